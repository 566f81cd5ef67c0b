import assert from 'node:assert/strict'
import { evaluate, valuesAt } from './expression.ts'
import { assertVerdict, exactText, ownText } from './element-text.ts'
import { type Element, elementsIn, parseMarkup, plain, textIn } from './page-tree.ts'
import { LINKED, parseAnswer, PILL, placeOf, titlesOf, tokensIn, tokensOf } from './page-words.ts'

/** Addresses of all JSON, and of the proof, that a page links as its sources, its alternate first. */
export function sourcesOf(page: string): readonly string[] {
  const alternate = alternateOf(page)
  const further = [...page.matchAll(/<a data-(?:json|proof) href="([^"]+)"/g)].map(([, href = '']) =>
    plain(href),
  )
  return [...new Set([...(alternate === undefined ? [] : [alternate]), ...further])]
}

function alternateOf(page: string): string | undefined {
  const href = /<link rel="alternate" type="application\/json" href="([^"]+)"/.exec(page)?.[1]
  return href === undefined ? undefined : plain(href)
}

/**
 * Fails if a page's `main` has a figure, moment, number or state that is not in these answers, or lacks one:
 *
 * - `data-expr` on an element: its text is the value of the expression.
 * - `data-at` on an element: JSON pointers, separated by spaces. The element has their values in this order. For an
 *   object or a list it may have any values in it. `/a|/b` is the first that is not null. `/a?` may be in a
 *   link's address only, or absent.
 * - `data-list` on a table: it has a row for each element of the list, in the list's order and at most `data-most`
 *   rows. Rows with `data-row`, the pointer of their element, may be in any order. `data-field` on a column's head has
 *   the fields of its cells, like `data-at`; `*` is the row's own key.
 * - `data-list` on a list `ol` or `ul`: as on a table. `data-fields` has the fields of each line in the order of its text.
 * - `data-kind` and `data-state`: a value of the answers, which the element says in words.
 * - `class="say"`: a verdict. That all is paid needs an expression.
 * - `class="tx"`: a transaction, shown short, with a button that copies it.
 * - `data-now` on `main`: the present of words such as "today" and "in 2 h".
 * - `data-chrome` on an element: it has nothing from the answers.
 *
 * No other element may have a digit. A picture's text may have any value of the answers, and `data-expr`; the tests of
 * charts check its shapes.
 */
export function assertParity(page: string, answers: readonly string[]): void {
  const sources = sourcesOf(page)
  const read = new Map(sources.map((source, index) => [source, parseAnswer(answers[index] ?? 'null')]))
  const main = elementsIn(parseMarkup(/<main[^>]*>[^]*<\/main>/.exec(page)?.[0] ?? '')).at(1)
  assert.ok(main !== undefined && textIn(main).trim() !== '', 'the page says something')
  const reading = openReading(read, main.attributes.get('data-now'))
  reading.assertNothing(reading.textOf(main).replaceAll(/¶\d+/g, ' '))
  reading.assertWhole(alternateOf(page))
}

type ShownRows = { pointers: string[]; most: number }

function openReading(answers: ReadonlyMap<string, unknown>, present: string | undefined) {
  const [first] = answers.values()
  const [address = ''] = answers.keys()
  const lists = new Map<string, ShownRows[]>()
  const used: string[] = []
  const titles = titlesOf([...answers.values()])
  const everything = tokensOf([...answers.values()])

  /** Value at a pointer in the first answer, or in the answer whose address is before `#`. */
  function valueAt(pointer: string): unknown {
    used.push(pointer.replace(/^#/, ''))
    const [from = '', inside] = pointer.includes('#') ? pointer.split('#') : ['', pointer]
    assert.ok(from === '' || answers.has(from), `${from} is linked as JSON`)
    const [value] = valuesAt(from === '' ? first : answers.get(from), inside ?? '')
    assert.notEqual(value, undefined, `${pointer} leads somewhere`)
    return value
  }

  /** Text of an element, without the parts whose sources were checked. */
  function textOf(element: Element): string {
    const { name, attributes } = element
    const within = (): string =>
      element.children
        .map((one) => (typeof one === 'string' ? one : textOf(one)))
        .join('')
        .replaceAll(/\s+/g, ' ')
    if (attributes.has('data-chrome')) return ' '
    const expression = attributes.get('data-expr')
    if (expression !== undefined) {
      used.push(...expression.split(' ').slice(1))
      // Checks the amounts within.
      within()
      assert.equal(exactText(element).trim(), evaluate(expression, first, answers), expression)
      return ' '
    }
    if (name === 'svg') return pictureText(element)
    if (name === 'table' && attributes.has('data-list')) return tableText(element)
    if (['ol', 'ul'].includes(name) && attributes.has('data-list')) return bookText(element)
    if (attributes.get('class') === 'say') assertVerdict(within())
    const at = attributes.get('data-at')
    if (at !== undefined) {
      assertHeld(ownText(element, within, present), at.split(' '))
      return ' '
    }
    if (name === 'h1') {
      const asked = [...(address.match(/\d+/g) ?? []), ...momentAsked(address)]
      const said = new Set([...asked, ...[...titles.values()].flat()])
      assertNothing(within(), said)
      return ' '
    }
    return ownText(element, within, present)
  }

  /** Checks the text of a picture, which may have any value of the answers. */
  function pictureText(svg: Element): string {
    for (const part of elementsIn(svg)) {
      if (!['title', 'desc', 'text'].includes(part.name) || part.attributes.has('data-axis')) continue
      assertNothing(textOf(part), everything)
    }
    return ' '
  }

  function tableText(table: Element): string {
    const named = (table.attributes.get('data-list') ?? '').split(' ')
    const all = elementsIn(table)
    const heads = all.find(({ name }) => name === 'thead')
    const fields = heads === undefined ? [] : elementsIn(heads).filter(({ name }) => name === 'th')
    const rows = all
      .filter(({ name }) => name === 'tbody')
      .flatMap(({ children }) => children.filter((one) => typeof one !== 'string'))
    const shown: ShownRows = { pointers: [], most: Number(table.attributes.get('data-most') ?? Infinity) }
    for (const row of rows) {
      const pointer = row.attributes.get('data-row') ?? `${named[0]}/${shown.pointers.length}`
      assert.ok(named.length === 1 || row.attributes.has('data-row'), 'a row of several lists says of which')
      shown.pointers.push(pointer)
      assertRow(row, pointer, fields)
    }
    for (const list of named) lists.set(list, [...(lists.get(list) ?? []), shown])
    // Head, foot and caption are checked like any other text.
    return all
      .filter(({ name }) => ['thead', 'tfoot', 'caption'].includes(name))
      .map(textOf)
      .join(' ')
  }

  /** Checks each line of a list, other than the heads of its days. */
  function bookText({ attributes, children }: Element): string {
    const named = (attributes.get('data-list') ?? '').split(' ')
    const fields = (attributes.get('data-fields') ?? '').split(' ')
    const shown: ShownRows = { pointers: [], most: Number(attributes.get('data-most') ?? Infinity) }
    for (const line of children) {
      if (typeof line === 'string') continue
      if (line.attributes.get('class') === 'day') {
        assertNothing(textOf(line))
        continue
      }
      const pointer = line.attributes.get('data-row') ?? `${named[0]}/${shown.pointers.length}`
      assert.ok(
        named.length === 1 || line.attributes.has('data-row'),
        'a line of several lists says of which',
      )
      shown.pointers.push(pointer)
      valueAt(pointer)
      const pointers = fields.map((field) =>
        field
          .split('|')
          .map((one) => (one === '*' || one.startsWith('/') ? one : `${pointer}/${one}`))
          .join('|'),
      )
      assertHeld(textOf(line), pointers, pointer)
    }
    for (const list of named) lists.set(list, [...(lists.get(list) ?? []), shown])
    return ' '
  }

  function assertRow(row: Element, pointer: string, heads: readonly Element[]): void {
    const held = tokensOf({ [pointer.split('/').at(-1) ?? '']: valueAt(pointer) })
    const cells = row.children.filter((one) => typeof one !== 'string')
    for (const part of elementsIn(row)) {
      const kind = part.attributes.get('data-kind')
      assert.ok(kind === undefined || held.has(kind), `${kind} is of ${pointer}`)
      for (const term of part.attributes.get('data-expr')?.split(' ').slice(1) ?? []) {
        // A map that each element of a list has is shown by its key: the sum over all elements is of that row.
        const isOfKey = term === pointer.replace(/\/\d+\//, '/*/')
        assert.ok(isOfKey || term.startsWith(`${pointer}/`), `${term} is of ${pointer}`)
      }
    }
    for (const [column, cell] of cells.entries()) {
      const fields = heads[column]?.attributes.get('data-field')?.split(' ') ?? []
      const pointers = fields.map((field) =>
        field
          .split('|')
          .map((one) => (one === '*' ? one : `${pointer}/${one}`))
          .join('|'),
      )
      const text = textOf(cell)
      // A field of an expression may be shown by that alone, such as "All paid".
      const computed = elementsIn(cell).flatMap((part) => part.attributes.get('data-expr')?.split(' ') ?? [])
      const asked = pointers.map((one) => (computed.includes(one) ? `${one}?` : one))
      // A cell with `data-at` was checked already.
      if (!cell.attributes.has('data-at')) assertHeld(text, asked, pointer)
    }
  }

  /** Fails unless the text has the values at these pointers in their order, and no other figure. */
  function assertHeld(text: string, pointers: readonly string[], row = ''): void {
    let rest = text
    let from = 0
    const allowed = new Set<string>()
    for (const pointer of pointers) {
      const alternatives = pointer.replace(/\?$/, '').split('|')
      const values = alternatives.map((one) => (one === '*' ? row.split('/').at(-1) : valueAt(one)))
      const value = values.find((one) => one !== null) ?? null
      if (value === null) continue
      if (Object(value) === value) {
        for (const token of tokensOf(value)) allowed.add(token)
        continue
      }
      const said = `${value as string | number | boolean}`
      const found = placeOf(said, rest, from)
      // The last key may be a state, such as that of a total.
      allowed.add(`${PILL}${pointer.split('/').at(-1)}`)
      allowed.add(`${LINKED}${said}`)
      if (found === undefined && pointer.endsWith('?')) continue
      assert.ok(found !== undefined, `${pointer}, ${said}, is shown in: ${text}`)
      rest = rest.slice(0, found.start) + ' '.repeat(found.end - found.start) + rest.slice(found.end)
      from = found.end
      for (const token of titles.get(said) ?? []) allowed.add(token)
    }
    assertNothing(rest, allowed)
  }

  /** Fails unless each shown list is complete, and each list of the page's own answer is shown. */
  function assertWhole(alternate: string | undefined): void {
    for (const [list, tables] of lists) {
      const elements = Object.keys(Object(valueAt(list))).map((key) => `${list}/${key}`)
      const shown = tables.flatMap(({ pointers }) => pointers.filter((one) => one.startsWith(`${list}/`)))
      assert.equal(new Set(shown).size, shown.length, `no element of ${list} is shown twice`)
      for (const { pointers, most } of tables) assert.ok(pointers.length <= most, `${list} is cut at ${most}`)
      if (tables.some(({ pointers, most }) => pointers.length === most)) continue
      assert.deepEqual(shown.toSorted(), elements.toSorted(), `${list} is shown whole`)
    }
    if (alternate === undefined) return
    for (const [key, value] of Object.entries(Object(first) as object)) {
      if (!Array.isArray(value) || value.length === 0) continue
      assert.ok(
        // Or the same list, as another query of the page's endpoint answers it.
        used.some(
          (one) =>
            one.startsWith(`/${key}`) || (one.includes(`#/${key}`) && pathOf(one) === pathOf(alternate)),
        ),
        `${key} is shown`,
      )
    }
  }

  return { textOf, assertNothing, assertWhole }
}

/** Day and time of day of the moment that an address asks for, as a heading names it. */
function momentAsked(address: string): readonly string[] {
  const ms = Date.parse(new URL(address, 'http://page.test').searchParams.get('at') ?? '')
  if (Number.isNaN(ms)) return []
  const clock = new Date(ms).toISOString().slice(11, 19)
  return [String(new Date(ms).getUTCDate()), clock, clock.slice(0, 5)]
}

function pathOf(address: string): string {
  return address.split(/[?#]/)[0] ?? ''
}

/** Fails if a text has a figure or a state that is not allowed. */
function assertNothing(text: string, allowed: ReadonlySet<string> = new Set()): void {
  for (const token of tokensIn(text)) assert.ok(allowed.has(token), `${token} is not in the answer: ${text}`)
}
