import assert from 'node:assert/strict'
import { type Element, elementsIn, textIn } from './page-tree.ts'
import { LINKED, PILL } from './page-words.ts'
import { assertAmount, assertKind, assertMoment, assertState, assertTransaction } from './shown-words.ts'

const BLOCKS: ReadonlySet<string> = new Set([
  'br',
  'dd',
  'div',
  'dt',
  'li',
  'p',
  'td',
  'th',
  'tr',
  'h2',
  'h3',
])

/** Text of an element with amounts and moments in full, and with marks for states and the numbers of links. */
export function ownText(element: Element, within: () => string, present: string | undefined): string {
  const { name, attributes } = element
  const text = within()
  if (name === 'data') return ` ${amountOf(element)} `
  if (name === 'time') {
    const at = attributes.get('datetime') ?? ''
    assertMoment(text.trim(), at, attributes.get('data-form') ?? '', present)
    return ` ${at} `
  }
  if (attributes.get('class') === 'tx') return ` ${transactionOf(element)} `
  const state = attributes.get('data-state')
  if (state !== undefined) {
    assertState(text.trim(), state)
    return ` ${PILL}${state} `
  }
  const kind = attributes.get('data-kind')
  if (kind !== undefined) {
    assertKind(text.trim(), kind)
    return ` ${kind} `
  }
  const [, number] = /^\/(?:events|contests)\/(\d+)(?:\/ledger)?$/.exec(attributes.get('href') ?? '') ?? []
  const apart = BLOCKS.has(name) ? ' ' : ''
  return number === undefined ? `${apart}${text}${apart}` : `${text} ${LINKED}${number} `
}

/** The exact value of an amount, after checking what it shows. */
function amountOf(element: Element): string {
  const value = element.attributes.get('value') ?? ''
  const isHidden = (child: Element | string): boolean => typeof child !== 'string' && child.name === 'i'
  const partOf = (hidden: boolean): string =>
    element.children
      .filter((child) => isHidden(child) === hidden)
      .map((child) => (typeof child === 'string' ? child : textIn(child)))
      .join('')
  assertAmount(partOf(false).trim(), partOf(true), value)
  return value
}

/** Text of an element with its amounts as they are in the answers. */
export function exactText(element: Element): string {
  if (element.name === 'data') return amountOf(element)
  return element.children.map((child) => (typeof child === 'string' ? child : exactText(child))).join('')
}

/** The whole transaction, after checking what is shown of it. */
function transactionOf(element: Element): string {
  const parts = elementsIn(element)
  const link = parts.find(({ name }) => name === 'a')
  const tx = parts.find(({ name }) => name === 'button')?.attributes.get('data-copy')
  assert.ok(link !== undefined && tx !== undefined, 'a transaction has a link and a button that copies it')
  assertTransaction(textIn(link), link.attributes.get('href') ?? '', tx)
  return tx
}

/** Fails if a verdict says that all is paid; an expression that says so was left out of its text. */
export function assertVerdict(text: string): void {
  assert.doesNotMatch(text, /\ball paid\b|nothing is left/i, 'a verdict that all is paid has its source')
}
