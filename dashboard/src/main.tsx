/**
 * The dashboard: it shows what the server's public HTTP API tells, and does what that lets it do.
 *
 * | room | what |
 * |---|---|
 * | `frame` | what stands around every page: the door, the head, the foot |
 * | `api` | calls of the server |
 * | `live` | what changes while the page is open, and who is looking |
 * | `url` | filters in the address |
 * | `parts` | what pages are made of |
 * | `pages` | a page for each noun |
 * | `style` | colours, type and layout |
 *
 * A page is added by a folder in `pages` and a row in `frame/pages.tsx`. Nothing here is kept on the
 * server beside jobs, and nothing is loaded from anywhere else.
 */
import { render } from "preact";

import "uplot/dist/uPlot.min.css";
import "./style/tokens.css";
import "./style/base.css";
import "./style/parts.css";
import "./style/pages.css";
import "./style/narrow.css";
import { Frame } from "./frame/frame.tsx";
import { applyTheme } from "./live/theme.ts";
import { applyTitle } from "./live/title.ts";

applyTheme();
applyTitle();
const root = document.getElementById("app");
if (root) render(<Frame />, root);
