/** One measure at a time, and the reader's own offset among those to choose from. */
import './island-frame.ts'

function startMeasures(): void {
  const links = document.querySelector<HTMLElement>('[data-measures]')
  const sections = [...document.querySelectorAll<HTMLElement>('[data-measure]')]
  if (links === null || sections.length === 0) return
  const label = document.createElement('label')
  const select = document.createElement('select')
  label.append('Measure ', select)
  for (const { id, dataset } of sections) select.append(new Option(dataset['measure'] ?? id, id))
  const show = (): void => {
    for (const section of sections) section.hidden = section.id !== select.value
  }
  select.addEventListener('change', () => {
    history.replaceState(null, '', `#${select.value}`)
    show()
  })
  const asked = location.hash.slice(1)
  if (sections.some(({ id }) => id === asked)) select.value = asked
  links.replaceChildren(label)
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
