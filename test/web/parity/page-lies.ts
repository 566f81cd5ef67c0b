import { CONTEST_LIES } from './contest-lies.ts'
import { changedAt, type Lie, placesOf } from './page-changes.ts'

const CELL = /(<t[dh]\b[^>]*>)([^]*?)(<\/t[dh]>)/g
const ROW = /<tr\b[^>]*>[^]*?<\/tr>/g
const BODY = /(<tbody[^>]*>)([^]*?)(<\/tbody>)/g
const TABLE = /<table\b[^>]*data-list[^]*?<\/table>/g
const LIST = /<(ol|ul)\b[^>]*data-list[^]*?<\/\1>/g
const LINE = /<li\b[^>]*>[^]*?<\/li>/g

/** Another match on the page with a different value. */
function another(match: RegExpExecArray, all: readonly RegExpExecArray[]): string {
  return all.find((one) => one[1] !== match[1])?.[0] ?? match[0]
}

const next = (number: string | undefined): string => String(Number(number) + 1)

/** Cells and lines reduced to their figures, to compare lists. Words claim nothing. */
const closely = (markup: string): string =>
  markup
    .replaceAll(/<(?!\/?(?:t[dhr]|li)\b)[^>]*>/g, '')
    .replaceAll(/>[^<\d]*</g, '><')
    .trim()

function inTables(page: string, change: (table: string) => readonly string[]): readonly string[] {
  return placesOf(page, TABLE).flatMap(({ index, 0: table }) =>
    change(table)
      .filter((changed) => closely(changed) !== closely(table))
      .map((changed) => page.slice(0, index) + changed + page.slice(index + table.length)),
  )
}

/** The same for lists, which have lines in place of rows. Heads of days stay. */
function inLists(page: string, change: (lines: readonly string[]) => readonly string[]): readonly string[] {
  return placesOf(page, LIST).flatMap(({ index, 0: list }) => {
    const lines = list.match(LINE) ?? []
    const days = lines.filter((line) => line.startsWith('<li class="day"'))
    const others = lines.filter((line) => !days.includes(line))
    const first = list.indexOf(lines[0] ?? '')
    const changed = change(others)
    // Words claim nothing, so a change of their order is no lie.
    if (lines.length === 0 || closely(changed.join('')) === closely(others.join(''))) return []
    const end = list.lastIndexOf('</li>') + '</li>'.length
    const lie = list.slice(0, first) + [...days, ...changed].join('') + list.slice(end)
    return [page.slice(0, index) + lie + page.slice(index + list.length)]
  })
}

/** A table with its rows changed. */
function rowsChanged(table: string, change: (rows: readonly string[]) => readonly string[]): string {
  return table.replace(
    BODY,
    (_, open: string, inside: string, close: string) =>
      `${open}${change(inside.match(ROW) ?? []).join('')}${close}`,
  )
}

/** A table with two neighbouring columns exchanged. */
function columnsExchanged(table: string, column: number): string {
  return rowsChanged(table, (rows) =>
    rows.map((row) => {
      const inside = [...row.matchAll(CELL)].map(([, , content = '']) => content)
      if (column + 1 >= inside.length) return row
      let index = -1
      return row.replace(CELL, (_, open: string, _content: string, close: string) => {
        index += 1
        const from = index === column ? column + 1 : index === column + 1 ? column : index
        return `${open}${inside[from] ?? ''}${close}`
      })
    }),
  )
}

const added =
  (sentence: string): Lie['of'] =>
  (page) => [
    page.replace('</h1>', `</h1><p>${sentence}</p>`),
    page.replace('</main>', `<p>${sentence}</p></main>`),
  ]

export const LIES: readonly Lie[] = [
  {
    name: 'a sentence with figures of its own',
    pagesLeast: 50,
    of: added('57 contests were cancelled, 83 players were not paid.'),
  },
  {
    name: 'a sentence with figures from elsewhere in the answer',
    pagesLeast: 50,
    of: added('1 contest was cancelled.'),
  },
  {
    name: 'a state that is not in the answer',
    pagesLeast: 50,
    of: added('<span class="chip paid" data-state="paid">paid in full</span>'),
  },
  {
    name: 'another state',
    pagesLeast: 9,
    of: (page) =>
      changedAt(
        page,
        /(<span class="chip[^"]*" data-state=")([^"]*)(">)([^<]*)/g,
        ([, open, state]) => `${open}${state === 'paid' ? 'running">running' : 'paid">paid in full'}`,
      ),
  },
  {
    name: 'every state the same',
    pagesLeast: 9,
    of: (page) =>
      [
        page.replaceAll(/(<span class="chip[^"]*" data-state=)"[^"]*">[^<]*/g, '$1"paid">paid in full'),
      ].filter((lie) => lie !== page),
  },
  {
    name: 'columns exchanged',
    pagesLeast: 23,
    of: (page) =>
      inTables(page, (table) => [0, 1, 2, 3, 4, 5].map((column) => columnsExchanged(table, column))),
  },
  {
    name: 'no rows',
    pagesLeast: 27,
    of: (page) => [...inTables(page, (table) => [rowsChanged(table, () => [])]), ...inLists(page, () => [])],
  },
  {
    name: 'one row less',
    pagesLeast: 27,
    of: (page) => [
      ...inTables(page, (table) => [
        rowsChanged(table, (rows) => rows.slice(1)),
        rowsChanged(table, (rows) => rows.slice(0, -1)),
      ]),
      ...inLists(page, (lines) => lines.slice(1)),
    ],
  },
  {
    name: 'a row twice',
    pagesLeast: 27,
    of: (page) => [
      ...inTables(page, (table) => [rowsChanged(table, (rows) => [...rows, ...rows.slice(-1)])]),
      ...inLists(page, (lines) => [...lines, ...lines.slice(-1)]),
    ],
  },
  {
    name: 'rows exchanged',
    pagesLeast: 5,
    // Rows and lines with `data-row` may be in any order.
    of: (page) => [
      ...inTables(page, (table) =>
        table.includes('data-row') ? [] : [rowsChanged(table, (rows) => rows.toReversed())],
      ),
      ...inLists(page, (lines) =>
        lines.some((line) => line.includes('data-row')) ? lines : lines.toReversed(),
      ),
    ],
  },
  {
    name: 'the number of another event or contest',
    pagesLeast: 36,
    of: (page) =>
      changedAt(
        page,
        /((?:#|\b(?:event|contest)\s)(?:<[^>]*>)*)(\d+)(?=[<\s.,)])/gi,
        ([, text, number]) => `${text}${next(number)}`,
      ),
  },
  {
    name: 'the heading of another',
    pagesLeast: 13,
    of: (page) =>
      changedAt(
        page,
        /(<h1\b[^>]*>(?:[^<\d]|<(?!\/h1)[^>]*>)*)(\d+)/g,
        ([, text, number]) => `${text}${number}7`,
      ),
  },
  {
    name: 'a link to another event or contest',
    pagesLeast: 41,
    of: (page) =>
      changedAt(
        page,
        /(<a class="seq" href="\/events\/|<th scope="row"[^>]*><a href="\/contests\/)(\d+)/g,
        ([, link, number]) => `${link}${next(number)}`,
      ),
  },
  {
    name: 'another figure of the same page',
    pagesLeast: 38,
    of: (page) => changedAt(page, /<data\b[^>]*value="([^"]*)"[^>]*>[^]*?<\/data\s*>/g, another),
  },
  {
    name: 'a figure whose text differs from its value',
    pagesLeast: 45,
    of: (page) => changedAt(page, /(<data\b[^>]*value=")(\d)/g, ([, open, digit]) => `${open}${next(digit)}`),
  },
  {
    name: 'another moment of the same page',
    pagesLeast: 30,
    of: (page) => changedAt(page, /<time\b[^>]*datetime="([^"]*)"[^>]*>[^]*?<\/time\s*>/g, another),
  },
  {
    name: 'another kind',
    pagesLeast: 13,
    of: (page) => [
      ...changedAt(page, /<span data-kind="([^"]*)">[^<]*/g, ([, kind]) =>
        kind === 'winner' ? '<span data-kind="voter_share">Voters' : '<span data-kind="winner">Winner',
      ),
      ...changedAt(
        page,
        /\b(voter_share|winner|top_up|deposit|(?<=\/ )(?:opened|closed))(?=<(?!\/a>))/g,
        ([kind]) => (kind === 'winner' ? 'voter_share' : 'winner'),
      ),
    ],
  },
  ...CONTEST_LIES,
  {
    name: 'a computed figure that differs from its expression',
    pagesLeast: 27,
    of: (page) =>
      changedAt(
        page,
        /(data-expr="[^"]*"[^>]*>(?:<data[^>]*>)?[+-]?)(\d)/g,
        ([, open, digit]) => `${open}${next(digit)}`,
      ),
  },
]
