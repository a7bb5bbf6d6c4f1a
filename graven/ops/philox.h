#pragma once
#include <array>
#include <cstdint>

namespace graven::engine {

// Philox4x32-10, the counter-based generator of random numbers: a function of a 128-bit counter
// and a 64-bit key to four 32-bit words. Ten rounds; with hi:lo the 64-bit product of two words,
// a round is
//
//   hi0:lo0 = 0xD2511F53 * c0        hi1:lo1 = 0xCD9E8D57 * c2
//   c = (hi1 ^ c1 ^ k0, lo1, hi0 ^ c3 ^ k1, lo0)
//
// and between two rounds k0 += 0x9E3779B9, k1 += 0xBB67AE85. Source: Salmon, Moraes, Dror, Shaw,
// "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
using PhiloxWords = std::array<uint32_t, 4>;

// The ten rounds for n counters, given word by word, each replaced by its block.
inline void philox_rounds(uint32_t* c0, uint32_t* c1, uint32_t* c2, uint32_t* c3, int64_t n,
                          uint64_t key) {
  auto k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      uint64_t product0 = uint64_t{0xD2511F53} * c0[i], product1 = uint64_t{0xCD9E8D57} * c2[i];
      uint32_t next0 = static_cast<uint32_t>(product1 >> 32) ^ c1[i] ^ k0;
      uint32_t next2 = static_cast<uint32_t>(product0 >> 32) ^ c3[i] ^ k1;
      c0[i] = next0;
      c1[i] = static_cast<uint32_t>(product1);
      c2[i] = next2;
      c3[i] = static_cast<uint32_t>(product0);
    }
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
}

inline PhiloxWords philox_block(PhiloxWords c, uint32_t k0, uint32_t k1) {
  philox_rounds(&c[0], &c[1], &c[2], &c[3], 1, k0 | uint64_t{k1} << 32);
  return c;
}

// A stream of groups of four words: group i is the block of counter + i. Any group can be had
// without those before it, so any cut into threads gives the same numbers.
struct PhiloxStream {
  uint64_t counter_low = 0, counter_high = 0, key = 0;

  PhiloxWords group(uint64_t i) const {
    uint64_t low = counter_low + i, high = counter_high + (low < i ? 1 : 0);
    return philox_block({static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32),
                         static_cast<uint32_t>(high), static_cast<uint32_t>(high >> 32)},
                        static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32));
  }
  // The stream from group `groups` on.
  PhiloxStream skipped(uint64_t groups) const {
    uint64_t low = counter_low + groups;
    return {low, counter_high + (low < groups ? 1 : 0), key};
  }
  // The stream of a stateless op: its seed, scrambled by a block of a fixed key.
  static PhiloxStream of_seed(uint64_t s0, uint64_t s1) {
    PhiloxWords m = philox_block({static_cast<uint32_t>(s0), static_cast<uint32_t>(s0 >> 32),
                                  static_cast<uint32_t>(s1), static_cast<uint32_t>(s1 >> 32)},
                                 0x3EC8F720, 0x02461E29);
    return {0, m[2] | uint64_t{m[3]} << 32, m[0] | uint64_t{m[1]} << 32};
  }
};

// A stream that makes elements moves on by this many groups for each, whatever their dtype.
inline constexpr uint64_t kGroupsPerElement = 256;

}  // namespace graven::engine
