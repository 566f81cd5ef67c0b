import type { Audit } from './audit.ts'
import type { Check } from './questions/check.ts'
import { formatCount } from '../protocol/amount.ts'

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

/**
 * Whether nothing is wrong, the whole log was checked against a signature, and the chain and the witnesses, if they were to
 * be asked, gave a sure answer.
 */
export function isVerified({ checks, chain }: Pick<Audit, 'checks' | 'chain'>): boolean {
  const isOf = (name: Check['name']): Check['is'] | undefined =>
    checks.find((check) => check.name === name)?.is
  return (
    checks.every((check) => check.is !== 'wrong') &&
    chain?.isAnswered !== false &&
    isOf('witnesses') !== 'not checked' &&
    (['signature', 'root', 'log'] as const).every((name) => isOf(name) === 'right')
  )
}

/** Report of one screen; `drawn` for a terminal with symbols and colours. */
export function formatReport(audit: Audit, style: 'plain' | 'drawn', spent: string): string {
  const wide = Math.max(...audit.checks.map(({ name }) => name.length))
  const lines = audit.checks.flatMap((check) => checkLines(check, wide, style))
  const notes = audit.notes.map((note) => `note: ${note}`)
  return `${[...lines, ...notes, ...(audit.chain?.lines ?? []), ...notProved(audit), `${conclusion(audit)} ${spent}`].join('\n')}\n`
}

function notProved({ chain, vouched }: Audit): readonly string[] {
  if (vouched !== null) {
    const { size, liars } = vouched
    const lie = formatCount(liars, 'witness has', 'witnesses have')
    const told = `Vouched for: others who ask for this quorum are shown the same ${formatCount(size, 'event')}, unless ${lie} cosigned two logs.`
    return [told, NOT_PROVED_VOUCHED, ...(chain === null ? ['--chain asks the chain about payments.'] : [])]
  }
  return [NOT_PROVED, chain === null ? `${COMPARE}; --chain asks the chain about payments.` : `${COMPARE}.`]
}

function checkLines(
  { name, is, says, findings }: Check,
  wide: number,
  style: 'plain' | 'drawn',
): readonly string[] {
  const text = is === 'not checked' ? `not checked: ${says}` : is === 'wrong' ? '' : says
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
