import type { Visit, Visits } from './island-verify-checks.ts'
import { checkEvent, checkLoyaltyFile, checkVisit } from './island-verify-checks.ts'
import type { Log, Step, Steps } from './island-verify-log.ts'
import { unchecked, wrong } from './island-verify-log.ts'
import { checkMonth } from './island-verify-month.ts'

/** The mark of a step, and its words: the shape says it as well as the text. */
const MARKS: Readonly<Record<Step['is'], readonly [shape: string, word: string]>> = {
  right: ['✔', 'done'],
  wrong: ['✖', 'failed'],
  unchecked: ['–', 'not checked'],
}

/** What this browser keeps of earlier visits; nothing where it keeps nothing. */
const VISITS: Visits = {
  get(origin) {
    try {
      const kept: Visit = JSON.parse(localStorage.getItem(`daybook-visit ${origin}`) ?? 'null')
      return kept ?? undefined
    } catch {
      return undefined
    }
  },
  keep(origin, visit) {
    localStorage.setItem(`daybook-visit ${origin}`, JSON.stringify(visit))
  },
}

/** Makes each form of checks run its own, and shows the steps as they come. */
export function startVerify(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>('form[data-check]')) {
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      void run(form)
    })
    form.hidden = false
  }
}

async function run(form: HTMLFormElement): Promise<void> {
  const list = form.querySelector('ol')
  const button = form.querySelector('button')
  if (list === null || button === null || button.disabled) return
  button.disabled = true
  list.replaceChildren()
  list.setAttribute('aria-busy', 'true')
  try {
    for await (const step of stepsOf(form)) list.append(shown(step))
  } catch (error) {
    // What is served is at fault, or nobody answers: either way nothing is proved.
    list.append(shown(wrong(`It could not be read: ${error instanceof Error ? error.message : ''}`)))
    list.append(shown(unchecked('What would have come after it was not checked')))
  } finally {
    list.removeAttribute('aria-busy')
    button.disabled = false
  }
}

async function* stepsOf(form: HTMLFormElement): Steps {
  const said = (name: string): string =>
    document.querySelector<HTMLInputElement>(`input[name=${name}]`)?.value.trim() ?? ''
  const log: Log = { base: said('base').replace(/\/+$/, ''), vkey: said('vkey') }
  switch (form.dataset['check'] ?? '') {
    case 'event':
      return yield* checkEvent(log, Number(said('seq')))
    case 'visit':
      return yield* checkVisit(log, VISITS, new Date().toISOString().slice(0, 10))
    case 'month':
      return yield* checkMonth(log, said('month'))
    case 'file': {
      const file = form.querySelector<HTMLInputElement>('input[type=file]')?.files?.[0]
      if (file !== undefined) yield* checkLoyaltyFile(log, file)
      return
    }
    default:
      throw new Error('there is no such check')
  }
}

function shown({ is, said }: Step): HTMLElement {
  const line = document.createElement('li')
  line.className = is
  const [shape, word] = MARKS[is]
  const mark = document.createElement('b')
  mark.textContent = `${shape} ${word}`
  line.append(mark, ` ${said}`)
  return line
}
