import type { Audit } from './audit.ts'
import type { Check, CheckName, Lack } from './checklist.ts'
import { formatCount } from '../protocol/amount.ts'
import type { Vouched } from './witnesses.ts'

/** Most findings of one check that are printed. */
const FINDINGS_MAX = 3

const MARKS: Readonly<Record<'plain' | 'drawn', Readonly<Record<Check['is'], string>>>> = {
  plain: { right: 'ok   ', wrong: 'WRONG', 'not checked': '-    ' },
  drawn: { right: '\u001b[32m✓\u001b[0m', wrong: '\u001b[31m✗\u001b[0m', 'not checked': '–' },
}

const UNSEEN = 'Not proved: that events are true'
const NOT_PROVED = `${UNSEEN}, that none was kept out of the log, or that others are shown the same log.`
const NOT_PROVED_VOUCHED = `${UNSEEN}, or that none was kept out of the log.`
const COMPARE = 'For the last, compare checkpoints with others'

/** Option of `daybook verify` that a report may advise. */
type AdvisedOption = '--key' | '--save' | '--chain'

const ADVICE: Readonly<Record<Lack, readonly [option: AdvisedOption, advice: string]>> = {
  key: ['--key', '; --key takes it'],
  checkpoint: ['--save', '; --save keeps one for the next visit'],
}

/** Checks that an audit needs. If one of them is missing, nothing is verified. */
const NEEDED: ReadonlySet<CheckName> = new Set([
  'signature',
  'root',
  'log',
  'witnesses',
  'event',
  'month',
  'proof',
  'file',
])

/**
 * Whether the result is verified. Nothing may be wrong, and a signature must cover the log or its part. The chain and
 * the witnesses must have given a definite answer if they were asked.
 */
export function isVerified({ checks, chain }: Pick<Audit, 'checks' | 'chain'>): boolean {
  const isShort = ({ name, is }: Check): boolean => is === 'wrong' || (is !== 'right' && NEEDED.has(name))
  return !checks.some(isShort) && chain?.isAnswered !== false
}

/**
 * Report of one screen. `drawn` uses symbols and colours for a terminal. `advised` has the options of the command that
 * the reader could still use.
 */
export function formatReport(
  audit: Audit,
  style: 'plain' | 'drawn',
  spent: string,
  advised: readonly AdvisedOption[] = ['--key', '--save', '--chain'],
): string {
  const wide = Math.max(...audit.checks.map(({ name }) => name.length))
  const lines = audit.checks.flatMap((check) => checkLines(check, wide, style, advised))
  const notes = audit.notes.map((note) => `note: ${note}`)
  return `${[...lines, ...notes, ...(audit.chain?.lines ?? []), ...notProved(audit, advised), `${conclusion(audit)} ${spent}`].join('\n')}\n`
}

function notProved({ chain, vouched }: Audit, advised: readonly AdvisedOption[]): readonly string[] {
  const advises = chain === null && advised.includes('--chain')
  if (vouched !== null) {
    return [
      vouchedSays(vouched),
      NOT_PROVED_VOUCHED,
      ...(advises ? ['--chain asks the chain about payments.'] : []),
    ]
  }
  return [NOT_PROVED, advises ? `${COMPARE}; --chain asks the chain about payments.` : `${COMPARE}.`]
}

/** Sentence about the events that a quorum of the reader's witnesses vouches for. */
export function vouchedSays({ size, liars }: Vouched): string {
  const lie = formatCount(liars, 'witness has', 'witnesses have')
  return `Vouched for: others who ask for this quorum are shown the same ${formatCount(size, 'event')}, unless ${lie} cosigned two logs.`
}

function checkLines(
  { name, is, says, findings, lacks }: Check,
  wide: number,
  style: 'plain' | 'drawn',
  advised: readonly AdvisedOption[],
): readonly string[] {
  const [option, advice] = lacks === undefined ? [] : ADVICE[lacks]
  const said = option !== undefined && advised.includes(option) ? `${says}${advice}` : says
  const text = is === 'not checked' ? `not checked: ${said}` : is === 'wrong' ? '' : said
  const first = `${MARKS[style][is]} ${name.padEnd(wide)}  ${text}`.trimEnd()
  const shown = findings.slice(0, FINDINGS_MAX).map(({ place, what }) => `${place}: ${what}`)
  const more = findings.length - shown.length
  const all = more > 0 ? [...shown, `and ${more} more`] : shown
  const [lead, ...rest] = all
  if (lead === undefined) return [first]
  const indent = ' '.repeat(wide + (style === 'plain' ? 8 : 4))
  return [`${MARKS[style][is]} ${name.padEnd(wide)}  ${lead}`, ...rest.map((line) => `${indent}${line}`)]
}

function conclusion(audit: Audit): string {
  const wrong = audit.checks.filter(({ is }) => is === 'wrong')
  const unchecked = audit.checks.filter(({ is }) => is === 'not checked').length
  if (wrong.length > 0) return `WRONG: ${wrong.map(({ name }) => name).join(', ')};`
  if (!isVerified(audit)) return 'NOT VERIFIED;'
  const but = audit.notes.length > 0 ? ', but see the note' : ''
  return unchecked > 0 ? `right, and ${unchecked} not checked${but};` : `all of it is right${but};`
}
