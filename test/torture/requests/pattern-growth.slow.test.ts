import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { ts } from '@ts-morph/common'
import { textOf } from '../../stage/document.ts'
import { PRODUCT_SOURCES } from '../../stage/source-tree.ts'

/**
 * Patterns whose work grows faster than the length of their input, with the reason for which nobody can use that. Each
 * reads text of our own, or of the person who waits for it.
 */
const KEPT: Readonly<Record<string, string>> = {
  '/[\\s,]+(?=https?:)/': 'splits a field that the reader fills in for himself',
  '/\\/+$/': 'reads a field that the reader fills in for himself',
  '/--([\\w-]+): light-dark\\((#\\w+), (#\\w+)\\)/g': 'reads the style sheet of ours when the service starts',
  '/0+$/': 'reads a figure of ours',
  '/\\B(?=(?:\\d{3})+$)/g': 'reads a figure of ours',
  '/<[^>]*>/g': 'reads markup of ours, in which `<` of others is escaped',
  '/<p(?![\\w-]| class)[^>]*>([^]*?)<\\/p>/': 'reads markup of ours, in which `<` of others is escaped',
  '/<p class="say"[^>]*>([^]*?)<\\/p>/': 'reads markup of ours, in which `<` of others is escaped',
  '/<p class="lead"[^>]*>([^]*?)<\\/p>/': 'reads markup of ours, in which `<` of others is escaped',
  '/<p class="banner warn"[^>]*>([^]*?)<\\/p>/': 'reads markup of ours, in which `<` of others is escaped',
  '/<a data-json[^>]*>[^]*?<\\/a>/g': 'reads markup of ours, in which `<` of others is escaped',
  '/<span class="chip [^"]*"[^>]*>([^<]*)<\\/span>/g':
    'reads markup of ours, in which `<` of others is escaped',
  '/<title>.*?<\\/title>/s': 'reads a page of ours',
}
/**
 * Files that build patterns, all from words of ours. Patterns of queries are tested through their parser. Those of find read
 * 300 characters at most, and repeat nothing within a repetition.
 */
const BUILT: readonly string[] = [
  'src/conform/check.ts',
  'src/conform/fields.ts',
  'src/project/answers/contest-words.ts',
  'src/protocol/addresses/groups.ts',
  'src/protocol/addresses/look-alikes.ts',
  'src/protocol/foreign-text.ts',
  'src/protocol/query-time.ts',
  'src/serve/describe/dataset-columns.ts',
  'src/verify/figures/figure-queries.ts',
  'src/web/pages/find/find-page.ts',
  'src/web/reference/api-answers.ts',
  'src/web/reference/api-fields.ts',
]

/** Characters of a text for which exponential work is far above, and all other work far below `SHORT_MS`. */
const FEW_CHARS = 22
/** Characters of the next try, and time above which longer texts are tried. A linear pattern needs some microseconds. */
const CHARS = 2_048
const SUSPECT_MS = 0.3
/** Work may grow this much when the text is eight times as long: quadratic work grows 64 times. */
const GROWTH_MAX = 24
const LONGER = 8
/** Time that is too short to be compared. A linear pattern stays below it. */
const SHORT_MS = 1.5
/** Time for a text of `CHARS` that no linear pattern needs, on any machine. */
const LONG_MS = 40
/** Processor time of many runs, and most runs. */
const ENOUGH_MS = 20
const RUNS_MAX = 80

type Pattern = Readonly<{ literal: string; path: string }>

/** Patterns of the product that are written as literals, and the files that build others. */
function patternsOf(
  paths: readonly string[],
): Readonly<{ patterns: readonly Pattern[]; built: readonly string[] }> {
  const patterns = new Map<string, Pattern>()
  const built = new Set<string>()
  for (const path of paths) {
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) patterns.set(node.text, { literal: node.text, path })
      if (ts.isNewExpression(node) && node.expression.getText() === 'RegExp') built.add(path)
      ts.forEachChild(node, visit)
    }
    visit(ts.createSourceFile(path, textOf(path), ts.ScriptTarget.Latest, true))
  }
  return { patterns: [...patterns.values()], built: [...built] }
}

const USUAL = ['a', 'A', '0', ' ', '\n', '\t', '\\', '"', '-', '.', '/', '=', ',', '<', '\u0000', 'é', '😀']

/** Texts that a pattern repeats, begins or ends with: its own characters and words, alone and with others. */
function piecesOf(source: string): Readonly<{ pumps: readonly string[]; starts: readonly string[] }> {
  const plain = source.replaceAll(/\\([nrt])/g, (_, letter: string) => ({ n: '\n', r: '\r' })[letter] ?? '\t')
  const own = plain.match(/[^\\()[\]{}*+?|^$dwsSWDBb]/gu) ?? []
  const words = source.match(/[\w:/ ="<>-]{2,}/g) ?? []
  const chars = [...new Set([...own, ...USUAL])].slice(0, 40)
  const pairs = chars.slice(0, 12).flatMap((char) => [`${char}a`, `${char} `])
  return { pumps: [...chars, ...words.slice(0, 12), ...pairs], starts: ['', ...words.slice(0, 2)] }
}

function regexOf(literal: string): RegExp {
  const end = literal.lastIndexOf('/')
  return new RegExp(literal.slice(1, end), literal.slice(end + 1))
}

/**
 * Time of a run over a text, in milliseconds. A run that seems long is measured again by the processor time of many: the
 * machine may have given the time to other processes, and the system counts processor time in steps of some milliseconds.
 */
function timeOf(regex: RegExp, text: string): number {
  const run = (): unknown => (regex.global ? text.replace(regex, '') : regex.test(text))
  const beganMs = performance.now()
  run()
  const onceMs = performance.now() - beganMs
  if (onceMs <= SUSPECT_MS) return onceMs
  const begun = process.threadCpuUsage()
  for (let runs = 1; ; runs += 1) {
    run()
    const { user, system } = process.threadCpuUsage(begun)
    const ms = (user + system) / 1_000
    if (ms >= ENOUGH_MS || runs === RUNS_MAX) return ms / runs
  }
}

/** A text that makes a pattern do more work than in proportion to its length, as JSON; undefined when none is found. */
function superlinearText(literal: string): string | undefined {
  const regex = regexOf(literal)
  const { pumps, starts } = piecesOf(regex.source)
  for (const pump of pumps)
    for (const start of starts)
      for (const end of ['', '\u0001']) {
        const text = (chars: number): string => start + pump.repeat(Math.ceil(chars / pump.length)) + end
        if (timeOf(regex, text(FEW_CHARS)) > SHORT_MS) return JSON.stringify([start, pump, end])
        const short = timeOf(regex, text(CHARS))
        if (short <= SUSPECT_MS) continue
        const long = short > LONG_MS ? Infinity : timeOf(regex, text(CHARS * LONGER))
        if (long > SHORT_MS && long / short > GROWTH_MAX) return JSON.stringify([start, pump, end])
      }
  return undefined
}

suite('a pattern of the product', () => {
  const { patterns, built } = patternsOf(PRODUCT_SOURCES.filter((path) => path.startsWith('src/')))

  test('does work in proportion to the length of its input, or has a reason', () => {
    assert.ok(patterns.length > 250, `${patterns.length} patterns`)
    const found = patterns
      .filter(({ literal }) => !Object.hasOwn(KEPT, literal))
      .flatMap(({ literal, path }) => {
        const text = superlinearText(literal)
        return text === undefined ? [] : [`${path}: ${literal} with ${text}`]
      })
    assert.deepEqual(found, [])
  })

  test('is found by this test when it is quadratic or worse', () => {
    for (const literal of ['/\\s+$/', '/<([^>]+)>; rel/', '/^(?:a+)+$/'])
      assert.notEqual(superlinearText(literal), undefined, literal)
    for (const literal of ['/^[a-z]+$/', '/"(?:\\\\.|[^"\\\\])*"/g', '/\\d{1,9}/'])
      assert.equal(superlinearText(literal), undefined, literal)
  })

  test('has no reason that nobody needs, and is built only where this list says', () => {
    const literals = new Set(patterns.map(({ literal }) => literal))
    assert.deepEqual(
      Object.keys(KEPT).filter((literal) => !literals.has(literal)),
      [],
    )
    assert.deepEqual(built.toSorted(), BUILT)
  })
})
