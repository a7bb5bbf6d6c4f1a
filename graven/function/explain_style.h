#pragma once
#include <string_view>

namespace graven::engine {

// The style of the page of an explanation: light and dark as the reader's system is, no fonts and
// no files from elsewhere.
inline constexpr std::string_view kExplainStyle = R"(
:root { color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --line: #e2e5ea; --text: #1d2330; --faint: #667085;
  --code: #f3f5f8; --traced: #2f6fde; --failed: #d6453d; --went: #98a1b0; --hits: #2a9d6f;
  --advice: #fff7e0; --advice-line: #e7c55b; --chip: 92%; --chip-text: 28%; }
@media (prefers-color-scheme: dark) { :root {
  --page: #12151b; --card: #1a1f28; --line: #2c3340; --text: #e4e8ef; --faint: #93a0b4;
  --code: #141922; --traced: #6ea0ff; --failed: #ff7b72; --went: #6d7889; --hits: #4cc38a;
  --advice: #2b2614; --advice-line: #8f7a2d; --chip: 24%; --chip-text: 82%; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 28px 20px 80px; }
h1 { font-size: 26px; margin: 0; letter-spacing: -0.01em; }
h2 { font-size: 21px; margin: 0 0 12px; }
h2 code { font-size: inherit; }
h3 { font-size: 12px; margin: 22px 0 8px; color: var(--faint); text-transform: uppercase;
  letter-spacing: 0.07em; font-weight: 600; }
p { margin: 6px 0; }
a { color: var(--traced); text-decoration: none; }
a:hover { text-decoration: underline; }
code, pre, .code { font: 13px/1.55 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono",
  monospace; }
.faint { color: var(--faint); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 12px;
  padding: 20px 22px; margin-top: 20px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(130px, 1fr)); gap: 10px; }
.tile { background: var(--code); border-radius: 9px; padding: 10px 14px; }
.tile b { display: block; font-size: 20px; line-height: 1.25; font-weight: 600; }
.tile span { color: var(--faint); font-size: 12.5px; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th { text-align: left; color: var(--faint); font-weight: 500; font-size: 12.5px; }
th, td { padding: 5px 14px 5px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
tr:last-child td { border-bottom: 0; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.advice { background: var(--advice); border-left: 3px solid var(--advice-line);
  border-radius: 0 8px 8px 0; padding: 9px 14px; margin: 8px 0; overflow-wrap: anywhere; }
.call { border-left: 3px solid var(--traced); background: var(--code); border-radius: 0 8px 8px 0;
  padding: 10px 14px; margin: 14px 0; }
.call.hit { border-color: var(--hits); }
.scroll { overflow-x: auto; padding-bottom: 4px; }
svg text { font: 11px system-ui, "DejaVu Sans", sans-serif; fill: var(--faint); }
svg .id { fill: var(--text); font-weight: 600; }
.key { display: flex; flex-wrap: wrap; gap: 4px 18px; font-size: 12.5px; color: var(--faint); }
.key i { display: inline-block; width: 10px; height: 10px; margin-right: 6px; border-radius: 50%; }
details.trace { border: 1px solid var(--line); border-radius: 10px; margin: 8px 0; }
details.trace > summary { display: flex; gap: 14px; align-items: baseline; padding: 9px 14px;
  cursor: pointer; list-style: none; }
details.trace > summary::before { content: "\25B8"; color: var(--faint); }
details.trace[open] > summary::before { content: "\25BE"; }
details.trace[open] > summary { border-bottom: 1px solid var(--line); }
summary .signature { flex: 1; overflow-wrap: anywhere; }
summary .facts { white-space: nowrap; color: var(--faint); font-size: 13px; }
.inside { padding: 4px 18px 16px; }
.was { color: var(--failed); } .now { color: var(--hits); }
.was::before { content: "was "; color: var(--faint); }
.graph { background: var(--code); border-radius: 8px; padding: 8px 0; overflow-x: auto; }
.graph table { font-size: 13px; }
.graph td { border: 0; padding: 0 10px; white-space: pre; }
.graph td:first-child { padding-left: 16px; }
.graph tr:hover td { background: color-mix(in srgb, var(--traced) 9%, transparent); }
.graph td.place { color: var(--faint); max-width: 380px; overflow: hidden;
  text-overflow: ellipsis; }
.graph td.place b { color: var(--text); font-weight: 400; }
.chip { display: inline-block; border-radius: 5px; padding: 0 6px; font: 600 11px/1.6 system-ui,
  "DejaVu Sans", sans-serif; background: hsl(var(--hue) 70% var(--chip));
  color: hsl(var(--hue) 60% var(--chip-text)); }
.bar { height: 7px; border-radius: 4px; background: hsl(var(--hue) 55% 55%); min-width: 2px; }
.kernels td { padding-top: 6px; padding-bottom: 6px; }
details.part > summary { cursor: pointer; color: var(--faint); text-transform: uppercase;
  font-size: 12px; letter-spacing: 0.07em; font-weight: 600; margin: 16px 0 8px; }
details.part > summary span { text-transform: none; letter-spacing: 0; font-weight: 400;
  font-size: 13px; margin-left: 9px; }
)";

}  // namespace graven::engine
