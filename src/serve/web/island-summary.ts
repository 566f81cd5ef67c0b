import './island-frame.ts'

/** What the summary has of script: the slider says what it points at, and leads there when it is let go or Enter is pressed. */
function startSlider(form: HTMLFormElement): void {
  const slider = form.querySelector('input')
  const said = form.querySelector('output')
  if (slider === null || said === null) return
  // A page that is kept for ever cannot know how late it is.
  if (form.dataset['slider'] === 'past') {
    const { min, step } = slider
    const hours = Math.floor((Date.now() - Number(min)) / Number(step))
    slider.max = String(Math.max(Number(slider.max), Number(min) + hours * Number(step)))
  }
  const write = (): void => {
    const text = `${new Date(Number(slider.value)).toISOString().slice(0, 16).replace('T', ' ')} UTC`
    said.value = text
    slider.setAttribute('aria-valuetext', text)
  }
  // By keys every step is a change, and whoever steps is not there yet: Enter leads there.
  let dragged = false
  slider.addEventListener('pointerdown', () => (dragged = true))
  slider.addEventListener('keydown', (event) => {
    dragged = false
    if (event.key !== 'Enter') return
    // Not every browser sends a form by Enter from a slider, and none may send it twice.
    event.preventDefault()
    form.requestSubmit()
  })
  slider.addEventListener('input', write)
  slider.addEventListener('change', () => {
    if (dragged) form.requestSubmit()
  })
  write()
  form.hidden = false
}

for (const form of document.querySelectorAll<HTMLFormElement>('form[data-slider]')) startSlider(form)
