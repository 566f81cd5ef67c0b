import type { AnswerRoute } from '../../serve/http/route.ts'
import { SVG_POLICY } from './page-formats.ts'

/** Icon: a bound ledger in the theme's link colour, drawn on a grid of 16 pixels. */
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><style>rect{fill:#0b57b8}path{stroke:#fff;stroke-width:2}@media(prefers-color-scheme:dark){rect{fill:#7db7ff}path{stroke:#0e1218}}</style><rect x="1" width="14" height="16" rx="2"/><path d="M5 0v16" opacity=".45"/><path d="M7 4h6M7 8h6M7 12h4"/></svg>`

/** The icon as a data URL, which saves each reader a request. */
export const ICON_HREF: string = `data:image/svg+xml,${encodeURIComponent(ICON)}`

/** `/favicon.ico`: the icon for programs that do not read the page. Browsers go by its media type, SVG. */
export function iconRoute(): AnswerRoute {
  return {
    path: '/favicon.ico',
    parameters: [],
    allowance: 'none',
    brief: true,
    handle: () => ({
      is: 'body',
      keep: 'revalidate',
      etag: 'of-content',
      type: 'image/svg+xml',
      body: ICON,
      headers: { 'Content-Security-Policy': SVG_POLICY },
    }),
  }
}
