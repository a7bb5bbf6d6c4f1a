#include "graven/base/json.h"

#include <doctest/doctest.h>

#include <limits>

namespace graven::engine {
namespace {

std::string again(std::string_view text) {
  auto read = Json::parse(text);
  return read.ok() ? read->to_text() : read.status().message();
}

TEST_CASE("JSON is read and written") {
  for (const char* text :
       {"null", "true", "false", "-12", "0.5", "\"\"", "[]", "{}", "[1, [2, {\"a\": null}], \"b\"]",
        "{\"b\": 1, \"a\": {\"c\": [true, 1e+100]}}"}) {
    CHECK(again(text) == text);
  }
  CHECK(again(" [ 1 ,\t2 ]\n") == "[1, 2]");
}

TEST_CASE("texts of JSON are escaped, and are UTF-8 whatever they were made of") {
  CHECK(Json("a\"\\\n\x01z").to_text() == R"("a\"\\\n\u0001z")");
  CHECK(Json("gr\xc3\xbc\xc3\x9f \xf0\x9f\x90\xa6").to_text() ==
        "\"gr\xc3\xbc\xc3\x9f \xf0\x9f\x90\xa6\"");
  CHECK(Json(std::string("\xff\xc3(\xed\xa0\x80", 6)).to_text() ==
        "\"\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
  CHECK(again(R"("\u00fc\ud83d\udc26\/\t")") == "\"\xc3\xbc\xf0\x9f\x90\xa6/\\u0009\"");
  CHECK(Json(std::numeric_limits<double>::infinity()).to_text() == "null");
}

TEST_CASE("what is no JSON is an error that says where") {
  CHECK(again("[1, 2") == "no JSON: ] is missing at character 5");
  CHECK(again("{\"a\" 1}") == "no JSON: : is missing at character 5");
  CHECK(again("{\"a\": }") == "no JSON: a value is missing at character 6");
  CHECK(again("\"abc") == "no JSON: \" is missing at character 4");
  CHECK(again("1 2") == "no JSON: the end is missing at character 2");
  for (const char* text : {"", "{", "\"\\x\"", "\"\\ud800\"", "\"\\u12\"", "[1,]", "+-", "1.2.3",
                           "{1: 2}", "\"a\nb\"", "nul"}) {
    CHECK_MESSAGE(!Json::parse(text).ok(), text);
  }
  CHECK(!Json::parse(std::string(100, '[')).ok());
}

TEST_CASE("members of an object are found by name") {
  auto read = Json::parse(R"({"a": 1, "b": "two"})");
  REQUIRE(read.ok());
  CHECK(*read->find("a")->integer() == 1);
  CHECK(*read->find("b")->text() == "two");
  CHECK(read->find("c") == nullptr);
  CHECK(Json(1).find("a") == nullptr);
}

}  // namespace
}  // namespace graven::engine
