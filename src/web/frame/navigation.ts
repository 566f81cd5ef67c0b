import { type Html, html } from '../markup/html.ts'

type Link = readonly [path: string, label: string]

/** A section of the site: its entry in the navigation, and its pages. */
type Section = Readonly<{
  to: string
  label: string
  /** Pages of the section, shown below the masthead. */
  pages?: readonly Link[]
  /** Other pages for which the entry is the current one. */
  also?: readonly string[]
}>

const SECTIONS: readonly Section[] = [
  { to: '/', label: 'Today', also: ['/summary'] },
  { to: '/contests', label: 'Contests', also: ['/schedule'] },
  {
    to: '/payouts',
    label: 'Unpaid',
    pages: [
      ['/payouts', 'Unpaid prizes'],
      ['/waits', 'How long it takes'],
    ],
  },
  {
    to: '/flows',
    label: 'Money',
    pages: [
      ['/flows', 'Spent and paid'],
      ['/funds', 'Funds'],
      ['/loyalty/runs', 'Loyalty reward'],
      ['/patterns', 'Hours of the week'],
    ],
  },
  {
    to: '/verify',
    label: 'Check',
    pages: [
      ['/verify', 'Verify'],
      ['/stream', 'Events'],
      ['/archive', 'Archive'],
    ],
    also: ['/events'],
  },
]

/** Pages below "More". */
const MORE: readonly Link[] = [
  ['/schedule', 'Schedule'],
  ['/api', 'API'],
  ['/status', 'Status'],
  ['/about', 'About'],
]

/** Search form of every page. The key `/` focuses a page's own search form first. */
export const SEARCH_FORM: Html = html`<form class="find" role="search" action="/find" data-chrome>
  <input
    type="search"
    name="q"
    maxlength="300"
    aria-label="Find a contest, an event, a day or a transaction"
    placeholder="Contest, event or day"
  />
  <button>Find</button>
</form>`

/** The sections, and "More". */
export function navigation(path: string): Html {
  return html`<nav class="pages" aria-label="Pages">
    ${SECTIONS.map(
      (section) => html`<a href="${section.to}" ${isOf(section, path) ? CURRENT : null}>${section.label}</a>`,
    )}
    <details class="more">
      <summary>More</summary>
      <div>
        ${SEARCH_FORM}
        ${MORE.map(([to, label]) => html`<a href="${to}" ${path === to ? CURRENT : null}>${label}</a>`)}
      </div>
    </details>
  </nav>`
}

/** Pages of the current section; null when it has only one. */
export function subNavigation(path: string): Html | null {
  const section = SECTIONS.find((one) => isOf(one, path))
  if (section?.pages === undefined) return null
  return html`<nav class="sub" aria-label="Pages of ${section.label}">
    ${section.pages.map(([to, label]) => html`<a href="${to}" ${isWithin(path, to) ? CURRENT : null}>${label}</a>`)}
  </nav>`
}

const CURRENT = html` aria-current="page"`

function isOf({ to, pages = [], also = [] }: Section, path: string): boolean {
  return [to, ...pages.map(([page]) => page), ...also].some((one) => isWithin(path, one))
}

function isWithin(path: string, to: string): boolean {
  return (
    path === to || (to !== '/' && path.startsWith(`${to}/`)) || (to === '/stream' && /^\/events\b/.test(path))
  )
}
