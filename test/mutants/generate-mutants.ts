import { ts } from '@ts-morph/common'
import { type Mutant, sourceOf } from './mutant.ts'

/** A mutant that a rule made, and the rule. */
export type GeneratedMutant = Mutant & Readonly<{ rule: string }>

/** Changed text of a part of a source. */
type Change = Readonly<{ rule: string; node: Readonly<{ start: number; end: number }>; to: string }>

const { SyntaxKind } = ts

/** Operators and what a careless hand writes in their place. */
const OPERATORS: ReadonlyMap<ts.SyntaxKind, readonly [rule: string, to: string]> = new Map([
  [SyntaxKind.LessThanToken, ['relation', '<=']],
  [SyntaxKind.LessThanEqualsToken, ['relation', '<']],
  [SyntaxKind.GreaterThanToken, ['relation', '>=']],
  [SyntaxKind.GreaterThanEqualsToken, ['relation', '>']],
  [SyntaxKind.EqualsEqualsEqualsToken, ['equality', '!==']],
  [SyntaxKind.ExclamationEqualsEqualsToken, ['equality', '===']],
  [SyntaxKind.PlusToken, ['arithmetic', '-']],
  [SyntaxKind.MinusToken, ['arithmetic', '+']],
  [SyntaxKind.AsteriskToken, ['arithmetic', '/']],
  [SyntaxKind.SlashToken, ['arithmetic', '*']],
  [SyntaxKind.PercentToken, ['arithmetic', '*']],
  [SyntaxKind.PlusEqualsToken, ['arithmetic', '-=']],
  [SyntaxKind.MinusEqualsToken, ['arithmetic', '+=']],
  [SyntaxKind.AmpersandAmpersandToken, ['logic', '||']],
  [SyntaxKind.BarBarToken, ['logic', '&&']],
])

/** Methods whose arguments are places: one too many is the usual mistake. */
const PLACED = new Set(['slice', 'subarray', 'substring', 'at', 'charCodeAt', 'codePointAt', 'indexOf'])

/** Mutants of one source by all rules, in the order of their places. An id stays when other parts of the file change. */
export function mutantsOf(file: string, source: string = sourceOf(file)): readonly GeneratedMutant[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true)
  const counts = new Map<string, number>()
  const mutants: GeneratedMutant[] = []
  const visit = (node: ts.Node, within: string): void => {
    if (isSkipped(node)) return
    const inside = nameOf(node) ?? within
    for (const { rule, node: part, to } of changesOf(node, tree)) {
      const from = source.slice(part.start, part.end)
      const shown = `${short(from)} → ${short(to)}`
      const plain = `${file} ${inside} ${rule}: ${shown}`
      const ordinal = (counts.get(plain) ?? 0) + 1
      counts.set(plain, ordinal)
      const id = ordinal === 1 ? plain : `${plain} (${ordinal})`
      mutants.push({ id, file, start: part.start, from, to, rule })
    }
    ts.forEachChild(node, (child) => visit(child, inside))
  }
  visit(tree, 'module')
  return mutants.toSorted((a, b) => a.start - b.start)
}

/** Types, imports, and checks of our own invariants, which nothing but another bug breaks. */
function isSkipped(node: ts.Node): boolean {
  if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isTypeAliasDeclaration(node)) return true
  return ts.isCallExpression(node) && /^assert\b/.test(node.expression.getText())
}

/** Name of a function or constant that holds other code, so that an id says where it is. */
function nameOf(node: ts.Node): string | undefined {
  const isHolder =
    ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) || ts.isPropertyAssignment(node)
  if (isHolder) return node.name?.getText()
  const isTop = ts.isVariableDeclaration(node) && (node.parent.flags & ts.NodeFlags.Const) !== 0
  return isTop && ts.isIdentifier(node.name) ? node.name.text : undefined
}

function changesOf(node: ts.Node, tree: ts.SourceFile): readonly Change[] {
  const at = (part: ts.Node): Change['node'] => ({ start: part.getStart(tree), end: part.end })
  if (ts.isBinaryExpression(node)) return changesOfOperator(node, at)
  if (ts.isNumericLiteral(node) || ts.isBigIntLiteral(node)) return changesOfNumber(node, at)
  if (ts.isIfStatement(node)) return changesOfIf(node, at)
  if (ts.isConditionalExpression(node) || ts.isWhileStatement(node))
    return [negation(ts.isWhileStatement(node) ? node.expression : node.condition, at)]
  if (ts.isExpressionStatement(node)) return changesOfStatement(node, at)
  if (ts.isCallExpression(node)) return changesOfCall(node, at)
  if (node.kind === SyntaxKind.TrueKeyword) return [{ rule: 'truth', node: at(node), to: 'false' }]
  if (node.kind === SyntaxKind.FalseKeyword) return [{ rule: 'truth', node: at(node), to: 'true' }]
  return []
}

type PlaceOf = (part: ts.Node) => Change['node']

function changesOfOperator(
  { operatorToken, left, right }: ts.BinaryExpression,
  at: PlaceOf,
): readonly Change[] {
  const [rule, to] = OPERATORS.get(operatorToken.kind) ?? []
  const isText = [left, right].some((side) => ts.isStringLiteralLike(side) || ts.isTemplateExpression(side))
  const isJoined = isText && operatorToken.kind === SyntaxKind.PlusToken
  return rule === undefined || to === undefined || isJoined ? [] : [{ rule, node: at(operatorToken), to }]
}

/** Largest number that a careless hand has one too large. A larger one is a limit, and somebody's decision. */
const COUNTED_MAX = 100

/** One more than a number. Not of names of properties. */
function changesOfNumber(node: ts.NumericLiteral | ts.BigIntLiteral, at: PlaceOf): readonly Change[] {
  const { parent } = node
  if (ts.isPropertyAssignment(parent) && parent.name === node) return []
  // A value for an element that is always there: only its type may be absent.
  if (ts.isBinaryExpression(parent) && parent.operatorToken.kind === SyntaxKind.QuestionQuestionToken)
    return []
  const text = node.getText().replaceAll('_', '')
  const to = ts.isBigIntLiteral(node) ? `${BigInt(text.slice(0, -1)) + 1n}n` : String(Number(text) + 1)
  if (Number.parseInt(to, 10) > COUNTED_MAX) return []
  return [{ rule: 'number', node: at(node), to }]
}

function changesOfIf(node: ts.IfStatement, at: PlaceOf): readonly Change[] {
  const { expression, thenStatement, elseStatement } = node
  const only =
    ts.isBlock(thenStatement) && thenStatement.statements.length === 1
      ? thenStatement.statements[0]
      : thenStatement
  const leaves =
    only !== undefined &&
    (ts.isReturnStatement(only) ||
      ts.isThrowStatement(only) ||
      ts.isContinueStatement(only) ||
      ts.isBreakStatement(only))
  const dropped: Change[] =
    leaves && elseStatement === undefined ? [{ rule: 'early exit dropped', node: at(node), to: ';' }] : []
  const emptied: Change[] = leaves ? [] : [{ rule: 'branch emptied', node: at(thenStatement), to: '{}' }]
  const otherwise: Change[] =
    elseStatement === undefined || ts.isIfStatement(elseStatement)
      ? []
      : [{ rule: 'branch emptied', node: at(elseStatement), to: '{}' }]
  return [negation(expression, at), ...dropped, ...emptied, ...otherwise]
}

function negation(condition: ts.Expression, at: PlaceOf): Change {
  return { rule: 'condition negated', node: at(condition), to: `!(${condition.getText()})` }
}

/** Drops a statement that is a call, or an assignment with a call of its own. */
function changesOfStatement(node: ts.ExpressionStatement, at: PlaceOf): readonly Change[] {
  let called: ts.Expression = node.expression
  while (ts.isAwaitExpression(called) || ts.isVoidExpression(called)) called = called.expression
  const isAssert = /^(?:void |await )*assert\b/.test(node.getText())
  return ts.isCallExpression(called) && !isAssert ? [{ rule: 'call dropped', node: at(node), to: ';' }] : []
}

/** Functions of which the order of two arguments is the same. */
const SYMMETRIC = new Set(['Math.max', 'Math.min', 'add', 'isSame', 'later', 'smaller', 'isDeepStrictEqual'])

/** Swaps two neighbouring arguments, and moves a place by one. */
function changesOfCall({ expression, arguments: given }: ts.CallExpression, at: PlaceOf): readonly Change[] {
  const swaps = given.slice(1).flatMap((second, index): readonly Change[] => {
    const first = given[index]
    if (first === undefined || ts.isSpreadElement(first) || ts.isSpreadElement(second)) return []
    if (first.getText() === second.getText() || SYMMETRIC.has(expression.getText())) return []
    const [{ start }, { end }] = [at(first), at(second)]
    const to = `${second.getText()}, ${first.getText()}`
    return [{ rule: 'arguments swapped', node: { start, end }, to }]
  })
  const isPlaced = ts.isPropertyAccessExpression(expression) && PLACED.has(expression.name.text)
  const moved = given
    .filter((argument) => isPlaced && !ts.isLiteralExpression(argument) && !ts.isSpreadElement(argument))
    .map((argument) => ({ rule: 'place moved', node: at(argument), to: `${argument.getText()} + 1` }))
  return [...swaps, ...moved]
}

const SHOWN_CHARACTERS = 60

/** A text in one line, shortened in its middle. */
function short(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ')
  if (line.length <= SHOWN_CHARACTERS) return line
  return `${line.slice(0, SHOWN_CHARACTERS / 2)}…${line.slice(-SHOWN_CHARACTERS / 2)}`
}
