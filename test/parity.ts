import assert from 'node:assert/strict'

/** What of a page is held against its JSON: the exact values, the moments, and whatever other digits stand in `main`. */
type Claims = Readonly<{ values: readonly string[]; moments: readonly string[]; digits: readonly string[] }>

/** The addresses of all JSON that a page says it shows: its alternate first. */
export function sourcesOf(page: string): readonly string[] {
  const alternate = /<link rel="alternate" type="application\/json" href="([^"]+)"/.exec(page)?.[1]
  const further = [...page.matchAll(/<a data-json href="([^"]+)"/g)].map(([, href = '']) => href)
  return [...new Set([...(alternate === undefined ? [] : [alternate]), ...further])].map(plain)
}

/** Fails unless everything that the page's `main` says in digits is in one of these answers, or follows from them. */
export function assertParity(page: string, answers: readonly string[]): void {
  const known = answers.flatMap((json) => leavesOf(JSON.parse(json)))
  const wholes = new Set(known)
  const parts = new Set(known.flatMap((leaf) => leaf.match(/\d+/g) ?? []))
  const main = /<main[^>]*>([^]*)<\/main>/.exec(page)?.[1] ?? ''
  const { values, moments, digits } = claimsOf(
    withoutExpressions(
      main,
      new Map(sourcesOf(page).map((source, index) => [source, answers[index] ?? 'null'])),
    ),
  )
  assert.ok(values.length + moments.length + digits.length > 0, 'the page says something')
  for (const value of values) assert.ok(wholes.has(value), `${value} is in no answer`)
  for (const at of moments) assert.ok(wholes.has(at), `${at} is in no answer`)
  for (const run of digits) assert.ok(parts.has(run), `the digits ${run} are in no answer`)
}

function claimsOf(main: string): Claims {
  const said = without(main, ['section', 'nav', 'form'], 'data-chrome')
    // A round mark of an axis claims nothing: it is a place, and where it stands is held by the tests of charts.
    .replaceAll(/<text data-axis=""[^]*?<\/text\s*>/g, ' ')
    .replaceAll(/<svg[^]*?<\/svg>/g, (svg) => svg.replaceAll(/<(?!\/?(?:title|desc|text)\b)[^>]*>/g, ' '))
    .replaceAll(/<h[1-6][^>]*><\/h[1-6]>/g, '')
  const values: string[] = []
  const moments: string[] = []
  const rest = said
    .replaceAll(/<data\b[^>]*value="([^"]*)"[^>]*>([^]*?)<\/data\s*>/g, (_, value: string, shown: string) => {
      assert.equal(plain(shown.replaceAll(/<[^>]*>/g, '')), plain(value), 'an amount is shown as it is')
      values.push(plain(value))
      return ' '
    })
    .replaceAll(/<time\b[^>]*datetime="([^"]*)"[^>]*>([^]*?)<\/time\s*>/g, (_, at: string, shown: string) => {
      const text_ = plain(shown.replaceAll(/<[^>]*>/g, ''))
        .replace(' UTC', '')
        .replace(' ', 'T')
      assert.ok(at.startsWith(text_), `${shown} is ${at}`)
      moments.push(at)
      return ' '
    })
  const text = plain(rest.replaceAll(/<[^>]*>/g, ' '))
  return { values, moments, digits: text.match(/\d+/g) ?? [] }
}

/** Takes out what an element says of itself that it is computed, once it has been computed again. */
function withoutExpressions(main: string, answers: ReadonlyMap<string, string>): string {
  const read = new Map<string, unknown>([...answers].map(([source, json]) => [source, JSON.parse(json)]))
  const [first] = read.values()
  return main.replaceAll(
    /<(\w+)\b[^>]*data-expr="([^"]*)"[^>]*>([^]*?)<\/\1\s*>/g,
    (_, _tag: string, expression: string, shown: string) => {
      assert.equal(
        plain(shown.replaceAll(/<[^>]*>/g, '')),
        evaluate(plain(expression), first, read),
        expression,
      )
      return ' '
    },
  )
}

/**
 * `count /a` counts a list, `minus /a /b` subtracts, `percent /a /b` is a of b in per cent with one decimal, cut off,
 * `ratio /a /b` is how many times a is b, likewise, `about /a` is a cut short, `offset /a` is minutes as a clock shows
 * them, `sum /a /b` adds what all pointers lead to. Pointers are those of RFC 6901; `*` in one leads to every element, and one
 * after an address and `#` is of another answer that the page links. Figures are computed exactly, with the decimals
 * that they have.
 */
export function evaluate(
  expression: string,
  answer: unknown,
  answers: ReadonlyMap<string, unknown> = new Map(),
): string {
  const [operator = '', ...pointers] = expression.split(' ')
  const found = pointers.map((pointer) => {
    const [address = '', inside] = pointer.split('#')
    if (inside === undefined) return valuesAt(answer, pointer)
    assert.ok(answers.has(address), `${address} is linked as JSON`)
    return valuesAt(answers.get(address), inside)
  })
  const [[first] = [], [second] = []] = found
  switch (operator) {
    case 'count':
      assert.ok(Array.isArray(first))
      return String(first.length)
    case 'minus':
      assert.equal(placesOf(first), placesOf(second), expression)
      return decimal(digitsOf(first) - digitsOf(second), placesOf(first))
    case 'percent': {
      assert.equal(placesOf(first), placesOf(second), expression)
      const whole = digitsOf(second)
      return whole === 0n ? '' : `${decimal((digitsOf(first) * 1_000n) / whole, 1)} %`
    }
    case 'ratio':
      assert.equal(placesOf(first), placesOf(second), expression)
      return decimal((digitsOf(first) * 10n) / digitsOf(second), 1)
    case 'about':
      return shortened(String(first))
    case 'offset': {
      const minutes = Number(first)
      const clock = new Date(Math.abs(minutes) * 60_000).toISOString().slice(11, 16)
      return `${minutes < 0 ? '-' : '+'}${clock}`
    }
    case 'sum': {
      const terms = found.flat()
      assert.ok(terms.length > 0, `${expression} adds something`)
      const [places = 0, ...others] = new Set(terms.map(placesOf))
      assert.deepEqual(others, [], `${expression} adds like things`)
      return decimal(
        terms.map(digitsOf).reduce((a, b) => a + b),
        places,
      )
    }
    default:
      throw new Error(`there is no operator ${operator}`)
  }
}

/** At most three digits of a figure, cut off: 1 in `units` is shown with one decimal, less than 1 with two. */
function shortened(figure: string): string {
  const value = digitsOf(figure)
  const one = 10n ** BigInt(placesOf(figure))
  const size = value < 0n ? -value : value
  const units = [
    [10n ** 12n, 'T'],
    [10n ** 9n, 'B'],
    [10n ** 6n, 'M'],
    [1_000n, 'k'],
    [1n, ''],
  ] as const
  const [unit, letter] = units.find(([least]) => size >= least * one) ?? [1n, '']
  const hundredths = (size * 100n) / (unit * one)
  const step = hundredths < 100n ? 1n : hundredths < 1_000n ? 10n : 100n
  const shown = (hundredths / step) * step
  const cut = shown * unit * one !== size * 100n
  const whole = (shown / 100n).toLocaleString('en')
  const decimals = String(shown % 100n)
    .padStart(2, '0')
    .replace(/0+$/, '')
  return `${cut ? '≈' : ''}${value < 0n ? '-' : ''}${whole}${decimals === '' ? '' : `.${decimals}`}${letter}`
}

/** What a pointer leads to: one value, or with `*` in it as many as there are. */
function valuesAt(answer: unknown, pointer: string): readonly unknown[] {
  return pointer
    .split('/')
    .slice(1)
    .reduce<readonly unknown[]>(
      (here, key) => {
        if (key === '*') return here.flatMap((one) => Object.values(one as object))
        return here.map(
          (one) => (one as Record<string, unknown>)[key.replaceAll('~1', '/').replaceAll('~0', '~')],
        )
      },
      [answer],
    )
}

function digitsOf(value: unknown): bigint {
  return BigInt(String(value).replace('.', ''))
}

function placesOf(value: unknown): number {
  return String(value).split('.')[1]?.length ?? 0
}

function decimal(value: bigint, places: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(places + 1, '0')
  const point = digits.length - places
  return `${value < 0n ? '-' : ''}${digits.slice(0, point)}${places === 0 ? '' : `.${digits.slice(point)}`}`
}

/** Markup without the elements of these names that carry the attribute. */
function without(markup: string, names: readonly string[], attribute: string): string {
  return names.reduce(
    (text, name) => text.replaceAll(new RegExp(`<${name}\\b[^>]*${attribute}[^]*?</${name}>`, 'g'), ' '),
    markup,
  )
}

function leavesOf(value: unknown): readonly string[] {
  if (Object(value) !== value) return [String(value)]
  return Object.entries(value as object).flatMap(([key, each]) => [key, ...leavesOf(each)])
}

function plain(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}
