import './island-frame.ts'

/** Starts the slider of the summary. It shows its moment, and opens that page on release or Enter. */
function startSlider(form: HTMLFormElement): void {
  const slider = form.querySelector('input')
  const output = form.querySelector('output')
  if (slider === null || output === null) return
  // An immutable page does not know the current time.
  if (form.dataset['slider'] === 'past') {
    const { min, step } = slider
    const hours = Math.floor((Date.now() - Number(min)) / Number(step))
    slider.max = String(Math.max(Number(slider.max), Number(min) + hours * Number(step)))
  }
  /** Whether the slider is at the current time, the last step of a current page. */
  const isNow = (): boolean => form.dataset['slider'] !== 'past' && slider.value === slider.max
  const go = (): void =>
    location.assign(
      isNow() ? '/summary' : `/summary?at=${new Date(Number(slider.value)).toISOString().slice(0, 16)}Z`,
    )
  const write = (): void => {
    const at = new Date(Number(slider.value))
    const format = (options: Intl.DateTimeFormatOptions): string =>
      at.toLocaleString('en-GB', { ...options, timeZone: 'UTC' })
    const text = isNow() ? 'now' : `${format({ dateStyle: 'long' })}, ${format({ timeStyle: 'short' })} UTC`
    output.value = text
    slider.setAttribute('aria-valuetext', text)
  }
  // With keys each step is a change, so only Enter opens the page.
  let dragged = false
  slider.addEventListener('pointerdown', () => (dragged = true))
  slider.addEventListener('keydown', (event) => {
    dragged = false
    if (event.key !== 'Enter') return
    // Some browsers submit a form on Enter in a slider; this prevents a second navigation.
    event.preventDefault()
    go()
  })
  slider.addEventListener('input', write)
  slider.addEventListener('change', () => {
    if (dragged) go()
  })
  write()
  form.hidden = false
}

for (const form of document.querySelectorAll<HTMLFormElement>('form[data-slider]')) startSlider(form)
