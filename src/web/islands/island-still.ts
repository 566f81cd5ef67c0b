import { type ReaderZone, type TimeForm, timeWords } from '../markup/time-words.ts'

// Script of every page: switches of theme and keys, moments, copying and keyboard shortcuts.

const MINUTE_MS = 60_000
const AGAIN_MS = 15_000
const COPYING = '[data-copy], [data-copy-curl]'
/** A setting in the browser's storage; null when there is none or storage is off. */
export function storedSetting(name: string): string | null {
  try {
    return localStorage.getItem(`daybook-${name}`)
  } catch {
    return null
  }
}

function storeSetting(name: string, value: string): void {
  try {
    localStorage.setItem(`daybook-${name}`, value)
  } catch {
    // Without storage the setting lasts as long as the page.
  }
}

/** Announces a text to screen readers. */
export function say(text: string): void {
  put(document.querySelector('#say'), text)
}

/** Sets the text of an element only when it changes, so that a selection stays. */
export function put(element: Element | null | undefined, text = ''): void {
  if (element && element.textContent !== text) element.textContent = text
}

/** Whether a form follows the reader's clock. Days, cells of tables and buckets are UTC for everyone. */
const isFollowing = (form: string): form is TimeForm => /^(full|clock|near|hour|until|span)$/.test(form)

const zone: ReaderZone = (ms) => -new Date(ms).getTimezoneOffset() * MINUTE_MS

/**
 * Writes the moments of a current page relative to now, and future ones also on the reader's clock. The element keeps
 * the exact moment. A page of the past is unchanged.
 */
function writeTimes(part: ParentNode): void {
  if (document.querySelector('main[data-now]') === null) return
  const now = Date.now()
  for (const time of part.querySelectorAll('time')) {
    const form = time.dataset['form'] ?? 'full'
    if (isFollowing(form)) put(time, timeWords(form, Date.parse(time.dateTime), now, zone))
  }
}

function startSwitches(): void {
  const form = document.querySelector<HTMLFormElement>('[data-switches]')
  if (form === null) return
  form.hidden = false
  for (const field of form.querySelectorAll<HTMLSelectElement | HTMLInputElement>('select, input')) {
    const { name } = field
    const box = field instanceof HTMLInputElement ? field : null
    const choice = storedSetting(name)
    if (choice !== null) {
      if (box === null) field.value = choice
      else box.checked = choice === 'on'
    }
    field.addEventListener('change', () => {
      storeSetting(name, box === null ? field.value : box.checked ? 'on' : 'off')
      // The theme is the only choice that is not a checkbox. No style names the theme "system".
      if (box === null) document.documentElement.dataset['theme'] = field.value
    })
  }
}

/** Shows the copy buttons, and adds URL and date to citations. */
function showCopying(part: ParentNode): void {
  for (const button of part.querySelectorAll<HTMLElement>(COPYING)) button.hidden = false
  for (const link of part.querySelectorAll<HTMLAnchorElement>('[data-cite]')) {
    if (link.textContent === link.href) continue
    link.textContent = link.href
    link.after(`. Retrieved ${new Date().toISOString().slice(0, 10)}`)
  }
}

function copy({ target }: Event): void {
  const button = target instanceof Element ? target.closest<HTMLElement>(COPYING) : null
  if (button === null) return
  const { copy: text, copyCurl = '' } = button.dataset
  // Without HTTPS there is no clipboard.
  void Promise.resolve(text ?? `curl '${location.origin}${copyCurl}'`)
    .then((copied) => navigator.clipboard.writeText(copied))
    .then(() => say('Copied'))
    .catch(() => say('This browser cannot copy'))
}

/** Closes the menu "More" on Escape, which focuses its name, and on a click outside. */
function closeMenu(event: Event): void {
  const menu = document.querySelector<HTMLDetailsElement>('.more[open]')
  if (menu === null) return
  if ('key' in event) {
    if (event.key !== 'Escape') return
    menu.querySelector('summary')?.focus()
  } else if (event.target instanceof Node && menu.contains(event.target)) return
  menu.open = false
}

/** Whether a key is a shortcut: shortcuts are on, and no field has the focus. */
export function isShortcut(event: KeyboardEvent): boolean {
  const isTyped = event.target instanceof Element && event.target.matches('input, select, textarea')
  return !isTyped && !event.ctrlKey && !event.metaKey && !event.altKey && storedSetting('keys') !== 'off'
}

/** Writes the moments and shows the copy buttons of a part of a page. */
export function prepare(part: ParentNode): void {
  showCopying(part)
  writeTimes(part)
}

startSwitches()
prepare(document)
document.addEventListener('click', (event) => {
  closeMenu(event)
  copy(event)
})
setInterval(writeTimes, AGAIN_MS, document)
document.addEventListener('keydown', (event) => {
  closeMenu(event)
  if (event.key !== '/' || !isShortcut(event)) return
  // A page's own search comes after that of the menu.
  const search = [...document.querySelectorAll<HTMLInputElement>('input[type=search]')].at(-1)
  if (search === undefined) return
  event.preventDefault()
  search.closest('details')?.setAttribute('open', '')
  search.focus()
})
