/** Shows one measure at a time, and marks the offset of this browser's clock. */
import './island-frame.ts'

function sections(): readonly HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('[data-measure]')]
}

function startMeasures(): void {
  const links = document.querySelector<HTMLElement>('[data-measures]')
  if (links === null || sections().length === 0) return
  const label = document.createElement('label')
  const select = document.createElement('select')
  // Elements with this class stay when the live page is refreshed.
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

/** Marks the present offset of this browser's clock. */
function offerOwnOffset(): void {
  const select = document.querySelector<HTMLSelectElement>('select[name=tz]')
  if (select === null) return
  const own = String(0 - new Date().getTimezoneOffset())
  const option = [...select.options].find(({ value }) => value === own)
  if (option !== undefined) option.textContent += ' (yours now)'
}

startMeasures()
offerOwnOffset()
