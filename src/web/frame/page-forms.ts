import type { AsOf } from '../../protocol/resources.ts'
import { JSON_TYPE } from '../../serve/http/projection.ts'
import type { Keep, Reply } from '../../serve/http/route.ts'
import { exportName } from './export-name.ts'
import { xmlOf } from '../markup/html.ts'
import type { AnyPage, Embedded, View } from './page.ts'
import { PAGE_NOTICE } from '../markup/site.ts'
import { CSV_TYPE, formatCsv } from '../markup/table.ts'

/** A page's own path, and what stands behind a suffix of it. */
export type PageForm = '' | '.json' | '.csv' | '.svg' | '.metadata.json'

/** Of a picture with its colours in it. */
export const SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

/** A page's address for a citation. */
export function permalinkOf(page: AnyPage, view: View, answer: unknown): string {
  return page.permalink?.(answer, view) ?? `${view.path}${view.query.format()}`
}

/** The chart of the page at an address: where a citation says its range, of the range that is shown and no other. */
export function pictureOf(title: string, address: string): Embedded {
  return { is: 'picture', name: 'The chart as a picture', path: suffixedOf(address, '.svg'), title }
}

/** A page's address with a suffix behind its path. */
function suffixedOf(address: string, suffix: string): string {
  const [path = '', query] = address.split('?')
  return `${path}${suffix}${query === undefined ? '' : `?${query}`}`
}

/** The `asOf` of an answer that has one: every projection. */
export function asOfIn(answer: unknown): AsOf | null {
  const known: { asOf?: AsOf } | null = Object(answer) === answer ? Object(answer) : null
  return known?.asOf ?? null
}

/** Whether an answer is one page of a list that goes on. */
export function goesOn(answer: unknown): boolean {
  const known: { next?: string | null } = Object(answer)
  return typeof known.next === 'string'
}

/** An answer in a form that is no page: as a table, as a picture, or what an export says of itself. */
export async function otherForm(
  page: AnyPage,
  view: View,
  answer: unknown,
  form: Exclude<PageForm, ''>,
  keep: Keep,
): Promise<Reply> {
  const kept = { is: 'body', keep, etag: 'of-content' } as const
  const asOf = asOfIn(answer)
  const table = page.csv?.(answer, view) ?? null
  if (form === '.csv' && table !== null) {
    const headers = {
      'Content-Disposition': `attachment; filename="${exportName(view, table, asOf)}"`,
      Link: `<${view.path}.metadata.json${view.query.format()}>; rel="describedby"`,
    }
    return { ...kept, type: CSV_TYPE, body: formatCsv(table), headers }
  }
  if (form === '.svg' && page.svg !== undefined) {
    const headers = { 'Content-Security-Policy': SVG_POLICY }
    const body = xmlOf(await page.svg(answer, view))
    return { ...kept, type: 'image/svg+xml', body, headers }
  }
  const { site, identity } = view
  // What is taken for granted is said in all of them: tomorrow they are still of the same range.
  const permalink = permalinkOf(page, view, answer)
  const body = JSON.stringify({
    title: page.title(answer, view),
    page: permalink,
    api: `/api/v1${permalink}`,
    csv: table === null ? null : suffixedOf(permalink, '.csv'),
    asOf,
    columns: table?.columns ?? null,
    rows: table?.rows.length ?? null,
    complete: table === null ? null : table.next === null,
    next: table?.next ?? null,
    token: site.token,
    origin: identity.origin,
    log: identity.id,
    simulated: identity.simulated,
    licence: site.licence,
    contact: site.contact,
    notice: PAGE_NOTICE,
  })
  return { ...kept, type: JSON_TYPE, body }
}
