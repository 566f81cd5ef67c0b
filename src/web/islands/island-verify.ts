import './island-still.ts'
import { vouchedSays } from '../../verify/report.ts'
import type { Check } from '../../verify/checklist.ts'
import type { CheckReply, CheckRequest, SeenLog } from './island-verify-run.ts'

// Script of the form that checks a log, on its page and in the saved verifier. A worker does the work.

/** Class, symbol and word of each result. */
const MARKS: Readonly<Record<Check['is'], readonly [className: string, mark: string]>> = {
  right: ['right', '✔ verified'],
  wrong: ['wrong', '✖ failed'],
  'not checked': ['unchecked', '– not checked'],
}
/** Most findings of one check that are shown. */
const FINDINGS_MAX = 5
/** Length from which a word counts as a digest, key or transaction, and may break anywhere. */
const LONG_CHARS = 24
const VISIT = 'daybook-visit '

/** First line of a check that has proved its part. */
const PROVED: Readonly<Record<string, (fields: CheckRequest['fields']) => string>> = {
  log: () => 'Every published figure follows from the signed events.',
  growth: () => 'The log only grew.',
  event: ({ seq }) => `Event ${seq} is in the signed log.`,
  month: ({ month }) => `Nothing of ${month} is left out.`,
  file: () => 'The signed log has this file.',
}

const STAGES: Readonly<Record<string, string>> = {
  asking: 'Asking for answer',
  reading: 'Reading event',
  chain: 'Asking the blockchain for answer',
}

for (const form of document.querySelectorAll<HTMLFormElement>('form[data-verify]')) start(form)

/** Starts a form. Shows its steps as the worker reports them. */
function start(form: HTMLFormElement): void {
  const [output, list] = [form.querySelector('output'), form.querySelector('ol')]
  const [button, stop] = form.querySelectorAll<HTMLButtonElement>('.buttons button')
  if (output === null || list === null || button === undefined || stop === undefined) return
  let worker: Worker | null = null

  function busy(next: Worker | null): void {
    worker?.terminate()
    worker = next
    button?.toggleAttribute('disabled', next !== null)
    stop?.toggleAttribute('hidden', next === null)
    list?.setAttribute('aria-busy', String(next !== null))
  }

  function end(verdict: string, ...lines: readonly HTMLElement[]): void {
    busy(null)
    list?.replaceChildren(...lines)
    if (output) output.value = verdict
  }

  async function check(): Promise<void> {
    const fields = fieldsOf(form)
    const request: CheckRequest = { fields, file: fileOf(form), visits: readVisits() }
    list?.replaceChildren()
    const next = new Worker(await workerUrl(form))
    busy(next)
    next.addEventListener('error', () =>
      end(
        'Nothing is verified.',
        stepLine('not checked', 'the part of this page that checks could not be loaded'),
      ),
    )
    next.addEventListener('message', ({ data }: MessageEvent<CheckReply>) => {
      if (data.is === 'progress') {
        const [done, total] = [data.done, data.total].map((count) => count.toLocaleString('en'))
        if (output) output.value = `${STAGES[data.stage]} ${done} of ${total} …`
      } else if (data.is === 'stopped') end('Nothing is verified.', stepLine('not checked', data.why))
      else end(...shown(form, request, data))
    })
    next.postMessage(request)
    if (output) output.value = 'Checking …'
    // On a phone the result and the button may be more than a screen apart.
    output?.scrollIntoView({ block: 'center' })
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void check()
  })
  stop.addEventListener('click', () => end('Stopped. Nothing is verified.'))
  // Filling in a field selects its row.
  form.addEventListener('input', ({ target }) => {
    const radio =
      target instanceof Element && target.closest('li')?.querySelector<HTMLInputElement>('[type=radio]')
    if (radio) radio.checked = true
  })
  form.hidden = false
  // Only the check of one event, which costs few requests.
  if (form.dataset['begins'] !== undefined) void check()
}

/** First line and steps of a finished check. Stores its checkpoint for the next visit. */
function shown(
  form: HTMLFormElement,
  { fields }: CheckRequest,
  { audit, isVerified, tx, visit }: Extract<CheckReply, { is: 'done' }>,
): readonly [verdict: string, ...lines: readonly HTMLElement[]] {
  const isKept = visit !== null && keepVisit(visit)
  const notes = [
    ...audit.notes,
    ...(audit.chain?.lines ?? []),
    ...(audit.vouched === null ? [] : [vouchedSays(audit.vouched)]),
    ...(visit === null || isKept
      ? []
      : ['This browser stores nothing, so your next visit has no state to compare.']),
  ]
  return [
    verdictOf(audit.checks, isVerified, fields, isKept),
    ...audit.checks.map(checkLine),
    ...(tx === null ? [] : [transactionLine(tx, form)]),
    ...notes.map(noteLine),
  ]
}

function verdictOf(
  checks: readonly Check[],
  isVerified: boolean,
  fields: CheckRequest['fields'],
  isKept: boolean,
): string {
  const subject = fields['subject'] ?? ''
  const open = checks.filter(({ is }) => is === 'not checked').map(({ name }) => name)
  if (checks.some(({ is }) => is === 'wrong')) return 'Something is wrong.'
  // A first visit has no earlier state to compare, which only the growth of the log needs.
  const isFirst = open.includes('consistency')
  if (!isVerified || (subject === 'growth' && isFirst && !isKept)) return 'Not all is verified.'
  if (subject === 'growth' && isFirst) return 'First visit: the state is saved.'
  const others = open.filter((name) => name !== 'consistency')
  const but = others.length === 0 ? '' : ` Not checked: ${others.join(', ')}.`
  return `${PROVED[subject]?.(fields) ?? ''}${but}`
}

function checkLine({ name, is, says, findings }: Check): HTMLElement {
  const found = findings.slice(0, FINDINGS_MAX).map(({ place, what }) => `${place}: ${what}`)
  const more = findings.length - found.length
  const all = is === 'wrong' ? [...found, ...(more > 0 ? [`and ${more} more`] : [])] : [says]
  return stepLine(is, `${name}: ${all.join('; ')}`)
}

function stepLine(is: Check['is'], text: string): HTMLElement {
  const [className, mark] = MARKS[is]
  const line = noteLine(text)
  line.className = className
  const bold = document.createElement('b')
  bold.textContent = mark
  line.prepend(bold)
  return line
}

function noteLine(text: string): HTMLElement {
  const line = document.createElement('li')
  for (const word of text.split(' ')) line.append(' ', word.length < LONG_CHARS ? word : codeOf(word))
  return line
}

function codeOf(word: string): HTMLElement {
  const code = document.createElement('code')
  code.textContent = word
  return code
}

/** Transaction of a proved event, with links to explorers of its chain. These links do not come from the log. */
function transactionLine(tx: string, form: HTMLFormElement): HTMLElement {
  const line = noteLine(`Its transaction is ${tx}.`)
  const templates: readonly string[] = JSON.parse(form.dataset['explorers'] ?? '[]')
  for (const template of templates) {
    const link = document.createElement('a')
    link.href = template.replaceAll('{tx}', encodeURIComponent(tx))
    link.rel = 'noreferrer'
    link.textContent = link.host
    line.append(' ', link)
  }
  return line
}

function fieldsOf(form: HTMLFormElement): CheckRequest['fields'] {
  const texts = [...new FormData(form)].flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as const] : [],
  )
  return { base: location.origin, ...Object.fromEntries(texts) }
}

function fileOf(form: HTMLFormElement): Blob | null {
  return form.querySelector<HTMLInputElement>('[type=file]')?.files?.[0] ?? null
}

/** Address of the worker: a file of the page's server, or the packed script in the saved verifier. */
async function workerUrl(form: HTMLFormElement): Promise<string> {
  const path = form.dataset['verify'] ?? ''
  if (path !== '') return path
  const packed = document.querySelector('#worker')?.textContent ?? ''
  const bytes = Uint8Array.from(atob(packed.trim()), (char) => char.charCodeAt(0))
  const script = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
  return URL.createObjectURL(new Blob([await new Response(script).arrayBuffer()]))
}

/** Earlier visits in the browser's storage; none when storage is off. */
function readVisits(): readonly SeenLog[] {
  try {
    return Object.keys(localStorage)
      .filter((name) => name.startsWith(VISIT))
      .flatMap((name) => parseVisit(localStorage.getItem(name) ?? ''))
  } catch {
    return []
  }
}

function parseVisit(text: string): readonly SeenLog[] {
  try {
    const visit: SeenLog = JSON.parse(text)
    const texts: readonly unknown[] = [visit.origin, visit.address, visit.date, visit.note, ...visit.vkeys]
    return texts.every((one) => typeof one === 'string') ? [visit] : []
  } catch {
    return []
  }
}

/** Replaces the last stored visit to this log. Returns whether the browser stored it. */
function keepVisit(visit: SeenLog): boolean {
  try {
    localStorage.setItem(VISIT + visit.origin, JSON.stringify(visit))
    return true
  } catch {
    return false
  }
}
