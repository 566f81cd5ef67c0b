import assert from 'node:assert/strict'

/** An element of a page with its attributes and children. */
export type Element = Readonly<{
  name: string
  attributes: ReadonlyMap<string, string>
  children: readonly (Element | string)[]
}>

const VOID: ReadonlySet<string> = new Set(['br', 'col', 'hr', 'img', 'input', 'link', 'meta', 'wbr'])
const TOKEN =
  /<!--[^]*?-->|<!doctype[^>]*>|<(?<close>\/?)(?<name>[a-z][\w-]*)(?<rest>(?:\s+[\w:-]+(?:="[^"]*")?)*)\s*(?<alone>\/?)>|(?<text>[^<]+)/giy
const ATTRIBUTE = /([\w:-]+)(?:="([^"]*)")?/g

type Growing = { name: string; attributes: ReadonlyMap<string, string>; children: (Element | string)[] }

/** Parses markup whose elements are all closed. Fails on any other. */
export function parseMarkup(markup: string): Element {
  const root: Growing = { name: '#root', attributes: new Map(), children: [] }
  const open = [root]
  let at = 0
  for (const match of markup.matchAll(TOKEN)) {
    assert.equal(match.index, at, `markup is read at ${markup.slice(at, at + 60)}`)
    at += match[0].length
    const { close, name, rest = '', alone, text } = match.groups ?? {}
    const parent = open.at(-1) ?? root
    if (text !== undefined) parent.children.push(plain(text))
    if (name === undefined) continue
    if (close === '/') {
      assert.equal(open.pop()?.name, name, `an element is closed at ${markup.slice(at - 60, at)}`)
      continue
    }
    const attributes = new Map(
      [...rest.matchAll(ATTRIBUTE)].map(([, key = '', value = '']) => [key, plain(value)] as const),
    )
    const element: Growing = { name, attributes, children: [] }
    parent.children.push(element)
    if (alone !== '/' && !VOID.has(name)) open.push(element)
  }
  assert.equal(at, markup.length, 'markup is read to its end')
  assert.equal(open.length, 1, `${open.at(-1)?.name} is closed`)
  return root
}

/** The element and all its descendants, in document order. */
export function elementsIn(element: Element): readonly Element[] {
  return [element, ...element.children.flatMap((one) => (typeof one === 'string' ? [] : elementsIn(one)))]
}

/** All text in an element. */
export function textIn(element: Element): string {
  return element.children.map((one) => (typeof one === 'string' ? one : textIn(one))).join('')
}

/** Text with its escapes replaced. */
export function plain(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}
