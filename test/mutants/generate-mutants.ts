import { ts } from '@ts-morph/common'
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ROOT } from '../stage/places.ts'
import { importsOf, PRODUCT_SOURCES, SOURCES } from '../stage/source-tree.ts'
import type { Mutant } from './judge-mutant.ts'

const { SyntaxKind } = ts

/** Rooms of pure functions, of which mutants are made: no disk, network or clock excuses one that lives there. */
const PURE = /^src\/(?:protocol|tlog|project)\//
/** Tests that compare every figure of a service with a second computation. They import no source that they judge. */
const OF_FIGURES = ['test/books/oracle.test.ts', 'test/books/laws.test.ts']
/** Test files near a source that judge a generated mutant of it. */
const TESTS_MAX = 12
/** Largest number that a careless hand has one too large. A larger one is a limit, and somebody's decision. */
const COUNTED_MAX = 100

/** Operators and what a careless hand writes in their place. */
const OPERATORS: ReadonlyMap<ts.SyntaxKind, string> = new Map([
  [SyntaxKind.LessThanToken, '<='],
  [SyntaxKind.LessThanEqualsToken, '<'],
  [SyntaxKind.GreaterThanToken, '>='],
  [SyntaxKind.GreaterThanEqualsToken, '>'],
  [SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [SyntaxKind.PlusToken, '-'],
  [SyntaxKind.MinusToken, '+'],
  [SyntaxKind.AsteriskToken, '/'],
  [SyntaxKind.PercentToken, '*'],
  [SyntaxKind.PlusEqualsToken, '-='],
  [SyntaxKind.AmpersandAmpersandToken, '||'],
  [SyntaxKind.BarBarToken, '&&'],
])

/**
 * Draws `count` mutants of the pure rooms by a seed. The place of a mutant in the draw depends on the seed and its id
 * alone, so a change elsewhere moves few others.
 */
export function drawMutants(count: number, seed: string): readonly Mutant[] {
  const all = PRODUCT_SOURCES.filter((file) => PURE.test(file)).flatMap((file) => mutantsOf(file))
  const drawn = all.map((mutant) => ({ mutant, order: hash('sha256', `${seed} ${mutant.id}`) }))
  return drawn
    .toSorted((a, b) => (a.order < b.order ? -1 : 1))
    .slice(0, count)
    .map(({ mutant }) => mutant)
}

/** Quick test files that load a source, directly or through others, the likeliest to find a bug in it first. */
export function testsNear(file: string): readonly string[] {
  const importers = Map.groupBy(
    SOURCES.flatMap((path) => importsOf(path).map((imported) => ({ path, imported }))),
    ({ imported }) => imported,
  )
  const found = new Set([file])
  // A set also iterates what is added meanwhile, so nearer importers come first.
  for (const one of found) for (const { path } of importers.get(one) ?? []) found.add(path)
  const tests = [...found].filter((path) => path.endsWith('.test.ts') && !path.endsWith('.slow.test.ts'))
  const distance = (test: string): number => {
    if (dirname(test) === dirname(file)) return basename(test).includes(basename(file, '.ts')) ? 0 : 1
    return PURE.test(test) ? 2 : 3
  }
  const near = tests.toSorted((a, b) => distance(a) - distance(b)).slice(0, TESTS_MAX)
  return file.startsWith('src/project/') ? [...new Set([...near, ...OF_FIGURES])] : near
}

/** Mutants of one source by all rules. Their ids have file, line and change. */
export function mutantsOf(
  file: string,
  source: string = readFileSync(join(ROOT, file), 'utf8'),
): readonly Mutant[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true)
  const mutants: Mutant[] = []
  const visit = (node: ts.Node): void => {
    if (isSkipped(node)) return
    const change = changeOf(node)
    if (change !== undefined) {
      const [start, end] = [change.part.getStart(tree), change.part.end]
      const from = source.slice(start, end)
      const line = tree.getLineAndCharacterOfPosition(start).line + 1
      mutants.push({ id: `${file}:${line} ${from} → ${change.to}`, file, start, from, to: change.to })
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return mutants
}

/** Types, imports, and checks of our own invariants, which nothing but another bug breaks. */
function isSkipped(node: ts.Node): boolean {
  if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isTypeAliasDeclaration(node)) return true
  return ts.isCallExpression(node) && /^assert\b/.test(node.expression.getText())
}

function changeOf(node: ts.Node): Readonly<{ part: ts.Node; to: string }> | undefined {
  if (ts.isBinaryExpression(node)) return changeOfOperator(node)
  if (ts.isNumericLiteral(node) || ts.isBigIntLiteral(node)) return changeOfNumber(node)
  if (ts.isIfStatement(node) || ts.isWhileStatement(node))
    return { part: node.expression, to: `!(${node.expression.getText()})` }
  if (ts.isConditionalExpression(node)) return { part: node.condition, to: `!(${node.condition.getText()})` }
  const isCall = ts.isExpressionStatement(node) && ts.isCallExpression(node.expression)
  return isCall && !/^assert\b/.test(node.getText()) ? { part: node, to: ';' } : undefined
}

function changeOfOperator({ operatorToken, left, right }: ts.BinaryExpression): ReturnType<typeof changeOf> {
  const to = OPERATORS.get(operatorToken.kind)
  const isText = [left, right].some((side) => ts.isStringLiteralLike(side) || ts.isTemplateExpression(side))
  const isJoined = isText && operatorToken.kind === SyntaxKind.PlusToken
  return to === undefined || isJoined ? undefined : { part: operatorToken, to }
}

/** One more than a number. Not of names of properties. */
function changeOfNumber(node: ts.NumericLiteral | ts.BigIntLiteral): ReturnType<typeof changeOf> {
  const { parent } = node
  if (ts.isPropertyAssignment(parent) && parent.name === node) return undefined
  const text = node.getText().replaceAll('_', '')
  const to = ts.isBigIntLiteral(node) ? `${BigInt(text.slice(0, -1)) + 1n}n` : String(Number(text) + 1)
  return Number.parseInt(to, 10) > COUNTED_MAX ? undefined : { part: node, to }
}
