// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/report_page.h"

namespace braintrace::train {

std::string_view report_css() {
  return R"css(
*{box-sizing:border-box}
html{color-scheme:light dark;scroll-behavior:smooth}
:root[data-theme=light]{color-scheme:light}:root[data-theme=dark]{color-scheme:dark}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
body{margin:0;background:var(--bg);color:var(--ink);
font:15px/1.5 Inter,ui-sans-serif,system-ui,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
header,main,footer{max-width:1180px;margin:0 auto;padding:0 20px}
header{display:flex;flex-wrap:wrap;gap:4px 16px;align-items:center;padding-top:26px}
h1{font-size:24px;font-weight:680;letter-spacing:-.015em;margin:0;flex:1 1 auto;overflow-wrap:anywhere}
header p{flex:1 0 100%;margin:0;color:var(--muted);overflow-wrap:anywhere}
button{font:inherit;color:inherit;background:var(--card);border:1px solid var(--band-line);border-radius:8px;min-width:40px;
min-height:38px;cursor:pointer}
button:hover{border-color:var(--grey)}
:focus-visible{outline:2.5px solid var(--focus);outline-offset:2px}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(135px,1fr));gap:10px;margin:20px 0 4px;padding:0}
.tiles div{background:var(--band);border-radius:12px;padding:11px 15px}
.tiles dt{font-size:12px;color:var(--muted)}
.tiles dd{margin:0;font-size:21px;font-weight:650;letter-spacing:-.01em;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.tiles .bad dd{color:var(--focus)}.tiles .good dd{color:var(--green)}
h2{font-size:17px;font-weight:660;letter-spacing:-.01em;margin:34px 0 4px}
h2+p{margin:0 0 12px;color:var(--muted);font-size:14px;max-width:75ch}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,400px),1fr));gap:14px;align-items:start}
.flow{columns:2 400px;column-gap:14px}.flow .chart{break-inside:avoid;margin-bottom:14px}
.record{border-left:3px solid var(--focus);background:var(--card);padding:6px 12px;margin:8px 0;border-radius:0 8px 8px 0}
.record p{margin:0;font-size:14px;overflow-wrap:anywhere}
.record b{font-weight:650}
.graph{background:var(--card);border:1px solid var(--band-line);border-radius:14px;padding:10px;overflow:auto;text-align:center}
.graph img{max-width:100%;height:auto;min-width:min(560px,160%)}
pre{background:var(--band);border-radius:10px;padding:12px 14px;overflow:auto;max-height:60vh;font-size:12.5px;line-height:1.5;
font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
details{margin:8px 0}summary{cursor:pointer;padding:5px 0;font-weight:600}
footer{color:var(--muted);font-size:12.5px;padding:28px 20px 36px}
@media (max-width:560px){header,main,footer{padding-left:12px;padding-right:12px}.chart{padding:10px 6px 6px}
.chart .tick,.chart .axis{font-size:14px}}
@media print{button{display:none}.chart,.graph{break-inside:avoid}pre{max-height:none;white-space:pre-wrap}}
)css";
}

std::string_view report_script() {
  return R"js(
document.getElementById('theme').addEventListener('click', () => {
  const root = document.documentElement, dark = matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = (root.dataset.theme || (dark ? 'dark' : 'light')) === 'dark' ? 'light' : 'dark';
});
document.documentElement.dataset.ready = 'true';
)js";
}

}  // namespace braintrace::train
