import type { AnswerRoute } from '../../serve/http/route.ts'
import { SVG_POLICY } from './page-forms.ts'

/** A bound ledger with its entries, in the one colour of the pages on light paper and on dark; sharp at 16 pixels. */
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><style>rect{fill:#0b57b8}path{stroke:#fff;stroke-width:2}@media(prefers-color-scheme:dark){rect{fill:#7db7ff}path{stroke:#0e1218}}</style><rect x="1" width="14" height="16" rx="2"/><path d="M5 0v16" opacity=".45"/><path d="M7 4h6M7 8h6M7 12h4"/></svg>`

/** The icon within a page: a request less for each reader. */
export const ICON_HREF: string = `data:image/svg+xml,${encodeURIComponent(ICON)}`

/** `/favicon.ico`: the same for who asks for it without having read a page; browsers go by its type, not by its name. */
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
