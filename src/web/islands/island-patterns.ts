/** One measure at a time, and the reader's own offset among those to choose from. */
import './island-frame.ts'

function sections(): readonly HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('[data-measure]')]
}

function startMeasures(): void {
  const links = document.querySelector<HTMLElement>('[data-measures]')
  if (links === null || sections().length === 0) return
  const label = document.createElement('label')
  const select = document.createElement('select')
  // So named, it is left alone when the page is kept up to date.
  label.className = 'reading'
  label.append('Measure ', select)
  for (const { id, dataset } of sections()) select.append(new Option(dataset['measure'] ?? id, id))
  const asked = location.hash.slice(1)
  if (sections().some(({ id }) => id === asked)) select.value = asked
  const show = (): void => {
    links.hidden = true
    for (const section of sections()) section.hidden = section.id !== select.value
  }
  select.addEventListener('change', () => {
    history.replaceState(null, '', `#${select.value}`)
    show()
  })
  document.addEventListener('daybook-changed', show)
  links.after(label)
  show()
}

/** The offset of this browser's clock, now. */
function offerOwnOffset(): void {
  const select = document.querySelector<HTMLSelectElement>('select[name=tz]')
  if (select === null) return
  const own = String(0 - new Date().getTimezoneOffset())
  const option = [...select.options].find(({ value }) => value === own)
  if (option !== undefined) option.textContent += ' (yours now)'
}

startMeasures()
offerOwnOffset()
