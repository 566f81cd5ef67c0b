/** Script of every page: switches of time and theme, relative times, copying and keyboard shortcuts. */
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
  const line = document.querySelector('#say')
  if (line !== null) line.textContent = text
}

/** Time until or since a moment, such as "3 d 4 h". */
function ago(at: string): string {
  const since = Date.parse(at) - Date.now()
  const wholes = (ms: number): number => Math.trunc(Math.abs(since) / ms)
  const hours = wholes(3_600_000)
  const minutes = wholes(60_000)
  const long = hours < 24 ? `${hours} h ${minutes % 60} min` : `${wholes(86_400_000)} d ${hours % 24} h`
  const duration = hours > 0 ? long : minutes > 0 ? `${minutes} min` : `${wholes(1_000)} s`
  return since > 0 ? `in ${duration}` : `${duration} ago`
}

const LOCAL = new Intl.DateTimeFormat('sv-SE', {
  dateStyle: 'short',
  timeStyle: 'long',
})

/** Sets the text of an element only when it changes, so that a selection stays. */
function put(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text
}

/** Writes all moments of the page in the chosen form. The exact moment stays in the element. */
function writeTimes(): void {
  const form = storedSetting('time') ?? 'utc'
  for (const time of document.querySelectorAll('time')) {
    if (time.dataset['form'] !== undefined) continue
    time.dataset['utc'] ??= time.textContent
    const utc = time.dataset['utc']
    if (form === 'local') put(time, LOCAL.format(new Date(time.dateTime)))
    else put(time, form === 'relative' ? `${utc} (${ago(time.dateTime)})` : utc)
  }
  for (const line of document.querySelectorAll<HTMLElement>('[data-relative]')) {
    put(line, form === 'relative' ? '' : `, ${ago(line.dataset['relative'] ?? '')}`)
  }
}

function setTheme(theme: string): void {
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}

function startSwitches(): void {
  const form = document.querySelector<HTMLFormElement>('[data-switches]')
  if (form === null) return
  form.hidden = false
  for (const field of form.querySelectorAll<HTMLSelectElement | HTMLInputElement>('select, input')) {
    const { name } = field
    const choice = storedSetting(name)
    if (field instanceof HTMLInputElement)
      field.checked = choice === null ? field.defaultChecked : choice === 'on'
    else if (choice !== null) field.value = choice
    field.addEventListener('change', () => {
      storeSetting(name, field instanceof HTMLInputElement ? (field.checked ? 'on' : 'off') : field.value)
      if (name === 'theme') setTheme(field.value)
      if (name === 'time') changed()
    })
  }
}

/** Shows the copy buttons, and adds URL and date to citations. */
function showCopying(): void {
  for (const button of document.querySelectorAll<HTMLElement>(COPYING)) button.hidden = false
  for (const link of document.querySelectorAll<HTMLAnchorElement>('[data-cite]')) {
    if (link.textContent === link.href) continue
    link.textContent = link.href
    link.after(`. Retrieved ${new Date().toISOString().slice(0, 10)}`)
  }
}

function copy({ target }: Event): void {
  const button = target instanceof Element ? target.closest<HTMLElement>(COPYING) : null
  if (button === null) return
  const { copy: text, copyCurl } = button.dataset
  // Without HTTPS there is no clipboard.
  void Promise.resolve(text ?? `curl '${location.origin}${copyCurl ?? ''}'`)
    .then((copied) => navigator.clipboard.writeText(copied))
    .then(() => say('Copied'))
    .catch(() => say('This browser does not let a page copy'))
}

/** Whether a key is a shortcut: shortcuts are on, and the key is not typed into a field. */
export function isShortcut(event: KeyboardEvent): boolean {
  const typed = event.target instanceof Element && event.target.closest('input, select, textarea') !== null
  return !typed && !event.ctrlKey && !event.metaKey && !event.altKey && storedSetting('keys') !== 'off'
}

/** Updates relative times and copy buttons, at the start and after the page has changed. */
export function changed(): void {
  showCopying()
  writeTimes()
  document.dispatchEvent(new Event('daybook-changed'))
}

startSwitches()
changed()
document.addEventListener('click', copy)
setInterval(writeTimes, AGAIN_MS)
document.addEventListener('keydown', (event) => {
  const search = document.querySelector<HTMLInputElement>('input[type=search]')
  if (event.key !== '/' || search === null || !isShortcut(event)) return
  event.preventDefault()
  search.focus()
})
