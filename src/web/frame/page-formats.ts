import type { AsOf } from '../../protocol/endpoints/resource-fields.ts'
import { JSON_TYPE, type Keep } from '../../serve/http/headers.ts'
import type { ParsedQuery } from '../../serve/query/query.ts'
import type { Reply } from '../../serve/http/route.ts'
import { xmlOf } from '../markup/html.ts'
import type { AnyPage, View } from './page.ts'
import { previewSvg } from '../preview/link-preview.ts'
import { PAGE_NOTICE } from '../markup/site.ts'
import { CSV_TYPE, exportName, formatCsv } from '../../serve/http/csv.ts'

/** Suffix of a page's path; empty for the page itself. */
export type PageFormat = '' | '.json' | '.csv' | '.svg' | '.png' | '.metadata.json'

/** Policy of SVG answers, which have inline styles. */
export const SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

/** Permalink of a page: its own, or its path and query. */
export function permalinkOf(page: AnyPage, view: View, answer: unknown): string {
  return page.permalink?.(answer, view) ?? `${view.path}${view.query.format()}`
}

/** An address with a suffix after its path. */
export function suffixedOf(address: string, suffix: string): string {
  const [path = '', query] = address.split('?')
  return `${path}${suffix}${query === undefined ? '' : `?${query}`}`
}

/** The `asOf` of an answer; null without one. */
export function asOfIn(answer: unknown): AsOf | null {
  const known: { asOf?: AsOf } | null = Object(answer) === answer ? Object(answer) : null
  return known?.asOf ?? null
}

/** Whether an answer has a next page. */
export function hasNextPage(answer: unknown): boolean {
  const known: { next?: string | null } = Object(answer)
  return typeof known.next === 'string'
}

/** Whether the CSV of a page has every matching row, even those that its answer lacks. */
function isWholeCsv({ wholeCsv }: AnyPage, query: Pick<ParsedQuery, 'has'>): boolean {
  return wholeCsv === true && !query.has('limit')
}

/** Value of `Link` that leads from a CSV to its metadata. */
export function metadataLink({ path, query }: Pick<View, 'path' | 'query'>): string {
  return `<${path}.metadata.json${query.format()}>; rel="describedby"`
}

/** Answer as CSV, as a picture, or as the metadata of an export. */
export async function formatReply(
  page: AnyPage,
  view: View,
  answer: unknown,
  format: Exclude<PageFormat, ''>,
  keep: Keep,
): Promise<Reply> {
  const kept = { is: 'body', keep, etag: 'of-content' } as const
  const asOf = asOfIn(answer)
  const table = page.csv?.(answer, view) ?? null
  if (format === '.csv' && table !== null) {
    const headers = {
      'Content-Disposition': `attachment; filename="${exportName(view, table, asOf)}"`,
      Link: metadataLink(view),
    }
    return { ...kept, type: CSV_TYPE, body: formatCsv(table), headers }
  }
  if (format === '.svg' && page.svg !== undefined) {
    const headers = { 'Content-Security-Policy': SVG_POLICY }
    const body = xmlOf(await page.svg(answer, view))
    return { ...kept, type: 'image/svg+xml', body, headers }
  }
  const { site, identity } = view
  if (format === '.png' && page.preview !== undefined) {
    const { simulated } = identity
    const body = previewSvg(await page.preview(answer, view), { name: site.name, url: site.url, simulated })
    return { ...kept, type: 'image/png', body, compress: false, picture: true }
  }
  const isWhole = isWholeCsv(page, view.query)
  // Permalinks write out defaults, such as the range, so that they stay the same.
  const permalink = permalinkOf(page, view, answer)
  const body = JSON.stringify({
    title: await page.title(answer, view),
    page: permalink,
    api: `/api/v1${permalink}`,
    csv: table === null ? null : suffixedOf(permalink, '.csv'),
    asOf,
    columns: table?.columns ?? null,
    // Nobody has counted the rows of a whole CSV beyond the answer.
    rows: table === null || (isWhole && table.next !== null) ? null : table.rows.length,
    complete: table === null ? null : isWhole || table.next === null,
    next: isWhole ? null : (table?.next ?? null),
    token: site.token,
    origin: identity.origin,
    log: identity.id,
    simulated: identity.simulated,
    licence: site.licence,
    contact: site.contact,
    notice: PAGE_NOTICE,
  })
  // Never immutable: the licence and the contact may change.
  return { ...kept, keep: 'revalidate', type: JSON_TYPE, body }
}
