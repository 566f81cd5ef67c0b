/** Elements that are left unchanged: forms, and what scripts have added. */
const UNTOUCHED = 'form, .slider, svg .reading'
/** Lists, whose rows are matched by key. */
const LISTS = 'tbody, ol'
/** Attributes that are left unchanged: details that a reader opened, and elements that a script shows. */
const READER_ATTRIBUTES: ReadonlySet<string> = new Set(['open', 'hidden'])

/**
 * Changes a page into a newer version of itself. Only differences are written, so focus, selection, open details and
 * scroll position stay. Equal parts are found by the browser, which takes a tenth of the time of a script.
 */
export function morph(old: Element, next: Element): void {
  if (old.isEqualNode(next)) return
  for (const name of old.getAttributeNames()) {
    if (!READER_ATTRIBUTES.has(name) && !next.hasAttribute(name)) old.removeAttribute(name)
  }
  for (const { name, value } of next.attributes) {
    if (!READER_ATTRIBUTES.has(name) && old.getAttribute(name) !== value) old.setAttribute(name, value)
  }
  if (old.matches(LISTS)) return morphRows(old, next)
  const [olds, nexts] = [[...old.childNodes].filter(isOurs), [...next.childNodes]]
  for (const [index, node] of nexts.entries()) {
    const here = olds[index]
    if (here === undefined) old.append(node)
    else if (here.nodeName !== node.nodeName) here.replaceWith(node)
    else if (here instanceof Element && node instanceof Element) {
      if (!here.matches(UNTOUCHED)) morph(here, node)
    } else if (here.nodeValue !== node.nodeValue) here.nodeValue = node.nodeValue
  }
  for (const extra of olds.slice(nexts.length)) extra.remove()
}

const isOurs = (node: Node): boolean => !(node instanceof Element && node.matches('.reading'))

/** Changes the rows of a table or a list, matched by key. A row that stays is not moved. */
function morphRows(old: Element, next: Element): void {
  const known = rowsByKey(old)
  let before = old.firstElementChild
  for (const [key, row] of rowsByKey(next)) {
    const here = known.get(key)
    known.delete(key)
    if (here === undefined) {
      old.insertBefore(row, before)
      continue
    }
    // Rows between that are gone are skipped here and removed below.
    if (here !== before && !isAfter(before, here)) old.insertBefore(here, before)
    else before = here.nextElementSibling
    morph(here, row)
  }
  for (const gone of known.values()) gone.remove()
}

function isAfter(first: Element | null, second: Element): boolean {
  return first !== null && (first.compareDocumentPosition(second) & Node.DOCUMENT_POSITION_FOLLOWING) > 0
}

/**
 * Rows by key, and a counter for equal keys: what `data-key` says, or their first link or moment, which no script
 * changes.
 */
function rowsByKey(list: Element): Map<string, Element> {
  const rows = new Map<string, Element>()
  for (const row of list.children) {
    const named = row.querySelector('th a, th time, td time')
    const key =
      row.getAttribute('data-key') ??
      named?.getAttribute('href') ??
      named?.getAttribute('datetime') ??
      row.firstElementChild?.textContent
    let count = 0
    while (rows.has(`${key} ${count}`)) count += 1
    rows.set(`${key} ${count}`, row)
  }
  return rows
}

/** Number of rows of a newer list that are not in the old one. */
export function newRows(list: Element, next: Element): number {
  const known = rowsByKey(list)
  return [...rowsByKey(next).keys()].filter((key) => !known.has(key)).length
}

/** The list of newest events of a page that is such a list. */
export function liveRowsIn(page: Element): HTMLElement | null {
  return page.querySelector('[data-live-rows]')
}

/**
 * Whether a list is read: something in it has the focus, or it is in sight. The list of newest events flows while its top
 * is in sight.
 */
export function isRead(list: Element): boolean {
  const { top, bottom } = list.getBoundingClientRect()
  const isSeen = list.matches('[data-live-rows]') ? top < 0 : bottom > 0 && top < innerHeight
  return isSeen || list.contains(document.activeElement)
}

/** Gives the lists of a newer page that are read the rows of the old page, if others have come or gone. Returns these lists. */
export function keepRows(main: Element, next: Element): readonly Element[] {
  const newer = [...next.querySelectorAll(LISTS)]
  const lists = [...main.querySelectorAll(LISTS)]
  if (lists.length !== newer.length) return []
  return lists.filter((list, index) => {
    const fresh = newer[index]
    const keys = (rows: Element): string => [...rowsByKey(rows).keys()].join()
    if (fresh === undefined || !isRead(list) || keys(list) === keys(fresh)) return false
    fresh.replaceChildren(...list.cloneNode(true).childNodes)
    return true
  })
}
