/** Heat maps that answer a finger, and the offset of this browser's clock. */
import './island-frame.ts'
import './island-marks.ts'

const select = document.querySelector<HTMLSelectElement>('select[name=tz]')
const own = String(0 - new Date().getTimezoneOffset())
const option = [...(select?.options ?? [])].find(({ value }) => value === own)
if (option !== undefined) option.textContent += ' (yours now)'
