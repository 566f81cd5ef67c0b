/** What a script has put into a page, and what a reader has typed into it, is left as it is. */
const STILL = 'form, .slider, svg .reading'

/**
 * Makes what a page shows the same as a later answer of its own address: only what differs is touched, so that focus,
 * a selection, open folds and the place of reading stay.
 */
export function morph(old: Element, next: Element): void {
  for (const name of old.getAttributeNames()) {
    if (name !== 'open' && !next.hasAttribute(name)) old.removeAttribute(name)
  }
  for (const { name, value } of next.attributes) {
    if (name !== 'open' && old.getAttribute(name) !== value) old.setAttribute(name, value)
  }
  if (old.tagName === 'TBODY') return morphRows(old, next)
  const [olds, nexts] = [[...old.childNodes].filter(isOurs), [...next.childNodes]]
  for (const [index, node] of nexts.entries()) {
    const here = olds[index]
    if (here === undefined) old.append(node)
    else if (here.nodeName !== node.nodeName) here.replaceWith(node)
    else if (here instanceof Element && node instanceof Element) {
      if (!here.matches(STILL)) morph(here, node)
    } else if (here.nodeValue !== node.nodeValue) here.nodeValue = node.nodeValue
  }
  for (const extra of olds.slice(nexts.length)) extra.remove()
}

const isOurs = (node: Node): boolean => !(node instanceof Element && node.matches('.reading'))

/** Rows are known by what they are about: one that stays is never moved. */
function morphRows(old: Element, next: Element): void {
  const known = new Map([...old.children].map((row) => [keyOf(row), row]))
  let before = old.firstElementChild
  for (const row of next.children) {
    const key = keyOf(row)
    const here = known.get(key)
    known.delete(key)
    if (here === undefined) {
      const fresh = row.cloneNode(true)
      if (fresh instanceof Element) fresh.classList.add('fresh')
      old.insertBefore(fresh, before)
      continue
    }
    // What has gone is passed over here, and taken out below.
    if (here !== before && !isAfter(before, here)) old.insertBefore(here, before)
    else before = here.nextElementSibling
    morph(here, row)
  }
  for (const gone of known.values()) gone.remove()
}

function isAfter(first: Element | null, second: Element): boolean {
  return first !== null && (first.compareDocumentPosition(second) & Node.DOCUMENT_POSITION_FOLLOWING) > 0
}

function keyOf(row: Element): string {
  const said = row.getAttribute('data-key') ?? row.querySelector('th a')?.getAttribute('href')
  return said ?? row.querySelector('th, td')?.innerHTML ?? ''
}

/** How many rows of a later answer a list does not have yet. */
export function newRows(list: Element, next: Element): number {
  const known = new Set([...list.children].map(keyOf))
  return [...next.children].filter((row) => !known.has(keyOf(row))).length
}
