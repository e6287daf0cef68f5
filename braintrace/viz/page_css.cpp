// SPDX-License-Identifier: Apache-2.0
#include "braintrace/viz/page.h"

namespace braintrace {

std::string_view page_css() {
  return R"css(
*{box-sizing:border-box}
html,body{margin:0;height:100%}
body{display:grid;grid-template:auto minmax(0,1fr)/minmax(0,1fr) minmax(300px,26vw);background:var(--bg);color:var(--ink);
font:14px/1.5 Inter,ui-sans-serif,system-ui,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;color-scheme:light dark}
:root[data-theme=light] body{color-scheme:light}:root[data-theme=dark] body{color-scheme:dark}
header{grid-column:1/-1;display:flex;flex-wrap:wrap;gap:6px 14px;align-items:center;padding:10px 18px;
border-bottom:1px solid var(--band-line);background:var(--card)}
h1{font-size:17px;font-weight:650;letter-spacing:-.01em;margin:0}
header p{margin:0;color:var(--muted);font-size:13px;flex:1 1 220px}
button,select,input{font:inherit;color:inherit;background:var(--card);border:1px solid var(--band-line);border-radius:8px;
padding:4px 10px;min-height:34px}
button{cursor:pointer}
button:hover{border-color:var(--grey)}
.tools{display:flex;gap:6px;align-items:center}
.tools button{min-width:36px}
.tools input{width:min(30vw,190px)}
:focus-visible{outline:2.5px solid var(--focus);outline-offset:1px}
#stage{position:relative;overflow:hidden;touch-action:none;cursor:grab;background:var(--bg)}
#stage.dragging{cursor:grabbing}
#stage svg{position:absolute;left:0;top:0;transform-origin:0 0;overflow:visible}
#stage .node,#stage .row{cursor:pointer}
#stage .node:focus,#stage .row:focus{outline:none}
#stage .node:hover .box,#stage .node:hover .op{stroke-width:2.4}
#stage .row:hover .slot{fill:color-mix(in srgb,currentColor 14%,transparent)}
#stage .node:focus-visible>.box,#stage .node:focus-visible>.op{stroke:var(--focus);stroke-width:3.2;stroke-dasharray:none}
#stage .row:focus-visible .slot{stroke:var(--focus);stroke-width:2.5}
#stage .node,#stage .row{transition:opacity .15s}
#stage .lighting .nodes>.node:not(.lit){opacity:.18}
#stage .lighting .edges>.edge:not(.lit){color:var(--faint)}
#stage .lighting .node.lit .row:not(.lit){opacity:.35}
#stage .lighting .edge.lit .shaft{stroke-width:2.6}
#stage .chosen>.box,#stage .chosen>.op{stroke-width:3}
#stage .row.chosen .slot{stroke:currentColor;stroke-width:1.6}
@media (prefers-reduced-motion:reduce){#stage *{transition:none!important}}
aside{overflow:auto;border-left:1px solid var(--band-line);background:var(--card);padding:16px 18px 28px}
aside h2{font-size:15px;margin:0 0 2px;overflow-wrap:anywhere}
aside h3{font-size:12px;font-weight:650;letter-spacing:.05em;color:var(--muted);margin:20px 0 6px}
aside p{margin:4px 0}
aside>button:not(.link){margin-bottom:12px}
.kind{color:var(--muted);font-size:13px}
.tag{display:inline-block;border-radius:99px;padding:1px 9px;font-size:12px;font-weight:600;border:1px solid currentColor}
.tag.trace{color:var(--orange)}.tag.window{color:var(--purple);border-style:dashed}
.tag.same_step,.tag.unused{color:var(--muted);border-style:dotted}
table{border-collapse:collapse;width:100%;font-size:13px}
td{padding:3px 8px 3px 0;vertical-align:top;border-top:1px solid var(--band-line)}
tr:first-child td{border-top:0}
td:last-child{text-align:right;padding-right:0;white-space:nowrap}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:12px}
code{overflow-wrap:anywhere}
pre{background:var(--band);border-radius:8px;padding:10px 12px;overflow:auto;max-height:46vh;margin:6px 0;tab-size:2}
summary{cursor:pointer;font-size:13px;color:var(--muted);padding:3px 0}
.link{display:block;width:100%;text-align:left;border:0;background:none;padding:4px 6px;margin:0 -6px;min-height:28px;
border-radius:6px;overflow-wrap:anywhere}
.link:hover{background:var(--band)}
.link .tag{float:right;margin-left:8px}
.filters{display:flex;flex-wrap:wrap;gap:6px;align-items:center;margin-bottom:6px}
.filters button[aria-pressed=false]{opacity:.45;text-decoration:line-through}
.filters select{max-width:100%;flex:1 1 160px}
.record{border-left:3px solid var(--grey);padding-left:10px;margin:8px 0}
.record.warning{border-color:var(--orange)}.record.error{border-color:var(--focus)}
.record b{font-size:12px;font-weight:650}
.record p{font-size:13px;overflow-wrap:anywhere}
.hint{color:var(--muted);font-size:12px;margin-top:22px}
kbd{border:1px solid var(--band-line);border-bottom-width:2px;border-radius:5px;padding:0 5px;font-size:11px}
@media (max-width:760px){
body{grid-template:auto 58svh auto/minmax(0,1fr);height:auto}
aside{border-left:0;border-top:1px solid var(--band-line);overflow:visible}
header{padding:8px 12px}header p{flex-basis:100%;order:3}
.tools{flex-wrap:wrap}button,select,input{min-height:40px}.tools button{min-width:42px}.link{min-height:38px}
}
@media print{header .tools,.hint,.filters{display:none}}
)css";
}

}  // namespace braintrace
