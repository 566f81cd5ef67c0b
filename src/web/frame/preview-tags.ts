import { type Html, html } from '../markup/html.ts'
import type { Site } from '../markup/site.ts'
import { PREVIEW_HEIGHT, PREVIEW_WIDTH } from '../preview/link-preview.ts'

/** Link preview of pages without a picture of their own. */
const START = '/summary.png'

/** Elements of a page's head that name its link-preview picture, for Open Graph and for X. */
export function previewTags(site: Site, address: string | null, description: string): Html {
  const alt = address === null ? `${site.name}: what is paid in prizes, and what waits` : description
  return html`<meta property="og:image" content="${site.url}${address ?? START}" />
    <meta property="og:image:type" content="image/png" />
    <meta property="og:image:width" content="${PREVIEW_WIDTH}" />
    <meta property="og:image:height" content="${PREVIEW_HEIGHT}" />
    <meta property="og:image:alt" content="${alt}" />
    <meta name="twitter:card" content="summary_large_image" />`
}
