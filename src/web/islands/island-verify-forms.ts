import {
  type ChainChecks,
  readChainFields,
  readWitnessFields,
  type SharedSteps,
} from './island-verify-fields.ts'
import { checkEvent, checkLoyaltyFile, checkPayment } from './island-verify-checks.ts'
import {
  type CheckStep,
  type CheckSteps,
  failed,
  fetchNewestCheckpoint,
  type Log,
  NotServed,
  openEd25519,
  servedBytes,
  servedText,
  sha256Sync,
  signedCheckpoint,
  unchecked,
} from './island-verify-log.ts'
import { checkMonth } from './island-verify-month.ts'
import { drawPath, pathLines } from './island-verify-path.ts'
import { checkGrowth, provedEvent } from './island-verify-tree.ts'
import { checkVisit, type Visits } from './island-verify-visit.ts'

/** Checks of witnesses. A page loads them when a reader asks for one; the saved verifier has them. */
export type WitnessChecks = Pick<
  typeof import('./island-verify-witnesses.ts'),
  'checkSavedProof' | 'checkWitnesses'
>

/** Checks that not every page has. */
type FurtherChecks = Readonly<{
  chain: ChainChecks | null
  /** Opens the checks of witnesses; null on a page without them. */
  openWitnesses: ((form: HTMLFormElement) => Promise<WitnessChecks>) | null
}>

/** Symbol and word of each result. */
const MARKS: Readonly<Record<CheckStep['is'], readonly [shape: string, word: string]>> = {
  right: ['✔', 'verified'],
  wrong: ['✖', 'failed'],
  unchecked: ['–', 'not checked'],
}

/** Length of a word that is a digest, key or transaction, and may break anywhere. */
const LONG_CHARS = 24

/** Earlier visits in the browser's storage; empty when storage is off. */
const VISITS: Visits = {
  get(name) {
    try {
      return localStorage.getItem(`daybook-visit ${name}`) ?? ''
    } catch {
      return ''
    }
  },
  keep(name, text) {
    try {
      localStorage.setItem(`daybook-visit ${name}`, text)
      return true
    } catch {
      return false
    }
  },
}

const SHARED_STEPS: SharedSteps = {
  checkGrowth,
  fetchNewestCheckpoint,
  NotServed,
  openEd25519,
  provedEvent,
  servedBytes,
  servedText,
  sha256Sync,
  signedCheckpoint,
}

/** Starts the forms of checks. Each shows its steps as they come. */
export function startVerify(further: FurtherChecks): void {
  for (const form of document.querySelectorAll<HTMLFormElement>('form[data-check]')) {
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      void runCheck(form, further)
    })
  }
  // On wide screens the words are beside the picture, so they may be open.
  const isWide = matchMedia('(min-width: 56rem)').matches
  for (const words of document.querySelectorAll<HTMLDetailsElement>('[data-path] details'))
    words.open = isWide
  const checks = document.querySelector<HTMLElement>('[data-checks]')
  if (checks !== null) checks.hidden = false
}

/** Runs the check of a form, and shows its steps as they come. */
export async function runCheck(form: HTMLFormElement, further: FurtherChecks): Promise<void> {
  const list = form.querySelector('ol')
  const button = form.querySelector('button')
  const verdict = form.querySelector('output')
  if (list === null || button === null || verdict === null || button.disabled) return
  const place = document.querySelector<HTMLElement>(`[data-path=${form.dataset['check']}]`)
  list.replaceChildren()
  if (place !== null) place.hidden = true
  // These inputs belong to no form, so the browser does not validate them itself.
  for (const input of document.querySelectorAll<HTMLInputElement>('[data-ask] input')) {
    if (!input.reportValidity()) return
  }
  button.disabled = true
  list.setAttribute('aria-busy', 'true')
  const say = (text: string): void => {
    verdict.value = text
  }
  say('')
  let isFirst: boolean | undefined
  try {
    for await (const step of stepsOf(form, further, say)) {
      list.append(stepItem(step))
      isFirst = step.isFirst
      if (step.shared !== undefined) showShared(step.shared)
      if (place !== null) showPath(place, step)
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : ''
    if (error instanceof NotServed) {
      list.append(stepItem(unchecked(why)))
    } else {
      // The answer has an unexpected form.
      for await (const step of failed(`It could not be read: ${why}`)) list.append(stepItem(step))
    }
  } finally {
    say(verdictOf(form, list, isFirst))
    list.removeAttribute('aria-busy')
    button.disabled = false
  }
}

/** First line of a finished check. Only a check whose every step passed says what it proves, of its first field. */
function verdictOf(form: HTMLFormElement, list: HTMLElement, isFirst = false): string {
  if (list.querySelector('.wrong,.unchecked') !== null) return 'Not all is verified.'
  return (form.dataset[isFirst ? 'first' : 'right'] ?? '').replace(
    '{}',
    form.querySelector('input')?.value ?? '',
  )
}

async function* stepsOf(
  form: HTMLFormElement,
  { chain, openWitnesses }: FurtherChecks,
  say: Log['say'],
): CheckSteps {
  const fieldValue = (name: string): string =>
    document
      .querySelector<HTMLInputElement | HTMLTextAreaElement>(`:is(input,textarea)[name=${name}]`)
      ?.value.trim() ?? ''
  const log: Log = {
    base: fieldValue('base').replace(/\/+$/, ''),
    vkey: fieldValue('vkey'),
    ed25519: form.closest<HTMLElement>('[data-checks]')?.dataset['ed25519'] ?? '',
    say,
  }
  const fields = readChainFields(fieldValue)
  const onChain = chain === null || fields === null ? null : { ...chain, fields }
  switch (form.dataset['check'] ?? '') {
    case 'event':
      yield* checkEvent(log, Number(fieldValue('seq')))
      return
    case 'payment':
      return yield* checkPayment(log, Number(fieldValue('payment')), explorersOf(form), onChain)
    case 'visit':
      return yield* checkVisit(
        log,
        log.base || location.origin,
        VISITS,
        new Date().toISOString().slice(0, 10),
      )
    case 'month':
      return yield* checkMonth(log, fieldValue('month'), onChain)
    case 'file': {
      const file = fileOf(form)
      if (file !== undefined) yield* checkLoyaltyFile(log, file)
      return
    }
    case 'witnesses': {
      // The earlier result may be of another log or quorum, until this check has passed.
      showShared('')
      const checks = await openWitnesses?.(form)
      return yield* checks?.checkWitnesses(log, readWitnessFields(fieldValue), Date.now(), SHARED_STEPS) ?? []
    }
    case 'proof': {
      const file = fileOf(form)
      const checks = await openWitnesses?.(form)
      if (file === undefined || checks === undefined) return
      return yield* checks.checkSavedProof(log, file, readWitnessFields(fieldValue), Date.now(), SHARED_STEPS)
    }
    default:
      throw new Error('there is no such check')
  }
}

function fileOf(form: HTMLFormElement): File | undefined {
  return form.querySelector<HTMLInputElement>('input[type=file]')?.files?.[0]
}

/** Replaces the limit that others may be shown another log; an empty text brings it back. */
function showShared(text: string): void {
  const limits = document.querySelectorAll<HTMLElement>('[data-shared]')
  for (const limit of limits) {
    const isOwn = limit.dataset['shared'] === 'own'
    limit.hidden = isOwn === (text === '')
    if (isOwn) limit.textContent = text
  }
}

function explorersOf(form: HTMLFormElement): readonly string[] {
  const templates: readonly string[] = JSON.parse(form.dataset['explorers'] ?? '[]')
  return templates
}

function stepItem({ is, message, links = [] }: CheckStep): HTMLElement {
  const line = document.createElement('li')
  line.className = is
  const [shape, word] = MARKS[is]
  const mark = document.createElement('b')
  mark.textContent = `${shape} ${word}`
  line.append(mark)
  writeText(line, message)
  for (const href of links) {
    const link = document.createElement('a')
    link.href = href
    link.rel = 'noreferrer'
    link.textContent = link.host
    line.append(' ', link)
  }
  return line
}

function writeText(line: HTMLElement, message: string): void {
  for (const part of message.split(' ')) line.append(' ', part.length < LONG_CHARS ? part : coded(part))
}

function coded(word: string): HTMLElement {
  const code = document.createElement('code')
  code.textContent = word
  return code
}

/** Shows the path of a step, as a picture and in words. */
function showPath(place: HTMLElement, { is, path }: CheckStep): void {
  if (path === undefined) return
  const holds = is === 'right'
  place.firstElementChild?.replaceChildren(drawPath(path, holds))
  const lines = pathLines(path, holds).map((message) => {
    const line = document.createElement('li')
    writeText(line, message)
    return line
  })
  place.querySelector('ol')?.replaceChildren(...lines)
  place.hidden = false
}
