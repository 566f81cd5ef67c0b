import type { LogIdentity } from '../../log/store/reader.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { AsOf } from '../../protocol/endpoints/resource-fields.ts'
import type { Assets, Island } from '../assets/assets.ts'
import { type Html, html } from '../markup/html.ts'
import { mirrorLine } from './mirror-line.ts'
import { navigation, subNavigation } from './navigation.ts'
import { momentText, presentText } from '../markup/moment-html.ts'
import { leadOf, linkPreviewText } from '../markup/page-lead.ts'
import { PAGE_NOTICE, type Site } from '../markup/site.ts'
import { PREVIEW_HEIGHT, PREVIEW_WIDTH } from '../preview/link-preview.ts'
import type { AnswerRoute } from '../../serve/http/route.ts'
import { SVG_POLICY } from './page-formats.ts'

/** Pages in the footer. */
const FOOTER: readonly (readonly [path: string, label: string])[] = [
  ['/status', 'Status'],
  ['/about', 'About'],
  ['/api', 'API'],
]

/**
 * Parts of a whole document.
 *
 * The script of a `live` page requests the page again when there are newer events, and each minute. It then changes, in
 * place, the parts of `main` that differ. A page needs only three rules for this:
 *
 * - The page of the newest events has `data-live-rows` on its list, which is refreshed more often. New rows wait while
 *   the list is scrolled or has the focus. The list is newest first and has 100 rows at most. Any other list in sight
 *   keeps its rows until the reader asks for the new ones.
 * - `data-key`, or the link in its `th`, identifies a row of any list, so that an unchanged row is not moved.
 * - Forms, a chart's `.slider` and everything else that `island-live-page.ts` names stay as they are. A script adds
 *   its other additions again on the event `daybook-changed`.
 */
type PageFrame = Readonly<{
  site: Site
  assets: Assets
  identity: LogIdentity
  title: string
  /** Link-preview text; the first text of the heading and the body if null. */
  description?: string | null
  /** State that the page shows; null if it has none. */
  asOf: AsOf | null
  past: boolean
  /** Whether newer events may change the page. */
  live: boolean
  /** Path of the page, which marks the current entry of the navigation. */
  path: string
  /** Time of the request; absent for paths outside the pages. */
  now?: Ms
  /** Top of the page with its `h1`; the title as `h1` if absent. */
  heading?: Html
  /** Public URL of the page, for search engines; null if they should not list it. */
  canonical: string | null
  /** Address of the JSON; null if there is none. */
  api: string | null
  island: Island
  /** Address of its link-preview picture; that of the summary if null or absent. */
  preview?: string | null
  /** More elements for the head. */
  head?: Html
  body: Html
}>

/** Content security policy of every page: nothing from other sites, nothing inline. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'"

/** The whole document of a page. */
export function formatPage(frame: PageFrame): string {
  const { site, assets, title, asOf } = frame
  const description = linkPreviewText(
    frame.description ?? leadOf(html`${frame.heading ?? null}${frame.body}`) ?? `${title}.`,
    frame.identity.simulated,
  )
  const stateAt = !frame.past || asOf === null || asOf.at === null ? [] : [momentText(asOf.at)]
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>${[title, ...stateAt, site.name].join(' · ')}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="description" content="${description}" />
        <meta property="og:type" content="website" />
        <meta property="og:site_name" content="${site.name}" />
        <meta property="og:title" content="${[title, ...stateAt].join(' · ')}" />
        <meta property="og:description" content="${description}" />
        ${previewTags(site, frame.preview ?? null, description)}
        <link rel="preload" as="font" type="font/woff2" crossorigin href="${assets.path('headings.woff2')}" />
        <script src="${assets.path('theme.js')}"></script>
        <link rel="stylesheet" href="${assets.path('style.css')}" />
        <link rel="stylesheet" media="print" href="${assets.path('print.css')}" />
        <script defer src="${assets.path(`${frame.island}.js`)}"></script>
        <link rel="icon" type="image/svg+xml" href="${ICON_HREF}" />
        ${
          frame.canonical === null
            ? null
            : html`<meta property="og:url" content="${frame.canonical}" />
                <link rel="canonical" href="${frame.canonical}" />`
        }
        ${
          frame.api === null
            ? null
            : html`<link rel="alternate" type="application/json" href="${frame.api}" />`
        }
        ${site.licence === null ? null : html`<link rel="license" href="${site.licence}" />`}
        ${frame.head ?? null}
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        ${masthead(frame)}
        <main id="main" tabindex="-1" ${presentOfPage(frame)}>
          ${frame.past ? pastBanner(frame) : null} ${frame.heading ?? html`<h1>${title}</h1>`} ${frame.body}
        </main>
        ${footer(frame)}
      </body>
    </html>`.markup.replaceAll(/>\n\s+</g, '>\n<')
}

/** Current time for the page's words such as "today". */
function presentOfPage({ now, past }: PageFrame): Html | null {
  const present = now === undefined ? null : presentText({ now, past })
  return present === null ? null : html` data-now="${present}"`
}

function masthead(frame: PageFrame): Html {
  return html`<header>
      <div class="top">
        <div>
          <a class="mark" href="/">${frame.site.name}</a>
          ${navigation(frame.path)} ${livePill(frame)}
        </div>
      </div>
      ${frame.identity.simulated ? SIMULATED : null}${mirrorLine(frame.site)}
    </header>
    ${subNavigation(frame.path)}`
}

const SIMULATED = html`<p class="strip" role="note">
  <span>This platform is simulated. No real money is involved.</span>
</p>`

/** Live state of the page, updated by the live script. */
function livePill({ past, live, asOf, identity }: PageFrame): Html | null {
  if (past) return html`<p id="live" class="live" data-state="past"><span>Past view</span></p>`
  if (!live) return null
  return html`<div
    id="live"
    class="live"
    data-state="still"
    data-live="${asOf?.seq ?? ''}"
    data-log="${identity.id}"
  >
    <details>
      <summary><span>Not live</span></summary>
      <p>Reload the page for newer events. With JavaScript, the page updates itself.</p>
    </details>
    <button type="button" hidden>Pause</button>
  </div>`
}

function pastBanner({ path }: PageFrame): Html {
  return html`<p class="banner" role="note">
    Past view: its figures do not change. <a href="${path}">Go to now</a>
  </p>`
}

function footer({ site }: PageFrame): Html {
  return html`<footer class="bottom">
    <p>${PAGE_NOTICE} Past moments, days and ranges are in UTC.</p>
    <ul>
      ${FOOTER.map(([to, label]) => html`<li><a href="${to}">${label}</a></li>`)}
      ${site.licence === null ? null : html`<li><a rel="license" href="${site.licence}">Licence</a></li>`}
      ${site.contact === null ? null : html`<li><a href="${site.contact}">Contact</a></li>`}
    </ul>
    <form class="switches" hidden data-switches>
      <label
        >Colours
        <select name="theme">
          <option value="system">as the system</option>
          <option value="light">light</option>
          <option value="dark">dark</option>
        </select></label
      >
      <label><input type="checkbox" name="keys" checked /> Keys: / finds, p pauses</label>
      <label><input type="checkbox" name="news" /> Tell screen readers of new events</label>
    </form>
    <p class="quiet" role="status" id="say"></p>
  </footer>`
}

/** Link preview of pages without a picture of their own. */
const START = '/summary.png'

/** Elements of a page's head that name its link-preview picture, for Open Graph and for X. */
function previewTags(site: Site, address: string | null, description: string): Html {
  const alt = address === null ? `${site.name}: what is paid in prizes, and what waits` : description
  return html`<meta property="og:image" content="${site.url}${address ?? START}" />
    <meta property="og:image:type" content="image/png" />
    <meta property="og:image:width" content="${PREVIEW_WIDTH}" />
    <meta property="og:image:height" content="${PREVIEW_HEIGHT}" />
    <meta property="og:image:alt" content="${alt}" />
    <meta name="twitter:card" content="summary_large_image" />`
}

/** Icon: a bound ledger in the theme's link colour, drawn on a grid of 16 pixels. */
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><style>rect{fill:#0b57b8}path{stroke:#fff;stroke-width:2}@media(prefers-color-scheme:dark){rect{fill:#7db7ff}path{stroke:#0e1218}}</style><rect x="1" width="14" height="16" rx="2"/><path d="M5 0v16" opacity=".45"/><path d="M7 4h6M7 8h6M7 12h4"/></svg>`

/** The icon as a data URL, which saves each reader a request. */
const ICON_HREF: string = `data:image/svg+xml,${encodeURIComponent(ICON)}`

/** `/favicon.ico`: the icon for programs that do not read the page. Browsers use its media type, SVG. */
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
