import type { EventWire } from '../../../protocol/event.ts'
import type { EventCorrections } from '../../../protocol/resources.ts'
import { grouped } from '../../markup/chart-scale.ts'
import { contestName } from '../../markup/contest-name.ts'
import { onePaid } from '../../markup/kind-words.ts'
import { plainText } from '../../markup/page-lead.ts'
import { capitalized } from '../../markup/prose.ts'
import { askEndpoint } from '../../frame/linked-answers.ts'
import type { View } from '../../frame/page.ts'
import type { PreviewCard } from '../../preview/preview-card.ts'
import { drawableText, drawableToken } from '../../preview/preview-font.ts'
import { dayText } from '../../preview/preview-words.ts'

/** Characters of a transaction at each end. */
const TX_END = 6

/** Link preview of an event: a receipt with its exact amount, struck through when a later event corrected it. */
export async function eventPreview(event: EventWire, view: View): Promise<PreviewCard> {
  const { seq, type, kind, kots, contestId, at, tx } = event
  const { answer: corrections } = await askEndpoint(view, 'eventCorrections', {
    segments: { seq: String(seq) },
  })
  const paid = type === 'payout'
  const struck = corrections.correctedBy !== null
  const [whole = '', decimals = ''] = (kots ?? '').split('.')
  const what = `${capitalized(type)}: ${kind.replaceAll('_', ' ')}`
  const facts: readonly (readonly [string, string] | null)[] = [
    paid ? ['Paid to', plainText(onePaid(kind))] : null,
    contestId === null ? null : ['For', await nameOf(contestId, view)],
    // The sentence about a correction replaces it.
    struck ? null : ['Published', `${dayText(at)}, ${at.slice(11, 19)} UTC`],
    tx === null ? null : ['Transaction', endsOf(tx)],
  ]
  return {
    above: paid
      ? struck
        ? 'Corrected payment'
        : 'Receipt of a payment'
      : kots === null
        ? `Event ${grouped(String(seq))}`
        : what,
    headline: kots === null ? what : grouped(whole),
    ...(kots === null ? {} : { tail: `.${decimals} ${drawableToken(view.site)}` }),
    struck,
    sentence: struck ? correctedBy(corrections, kots !== null) : null,
    corner: `No. ${grouped(String(seq))}`,
    part: { is: 'facts', facts: facts.filter((fact) => fact !== null) },
    state: 'An event in a signed log that anyone can check',
  }
}

function correctedBy({ correctedBy: by, restatedBy }: EventCorrections, moved: boolean): string {
  const replaced = restatedBy === null ? '' : ` Event ${grouped(String(restatedBy))} replaces it.`
  return `Corrected by event ${grouped(String(by))}: ${moved ? 'this amount' : 'it'} no longer counts.${replaced}`
}

/** The ends of a transaction; all of a short one. */
function endsOf(tx: string): string {
  return tx.length <= 3 * TX_END ? tx : `${tx.slice(0, TX_END)}…${tx.slice(-TX_END)}`
}

async function nameOf(contestId: number, view: View): Promise<string> {
  const { answer } = await askEndpoint(view, 'contest', { segments: { id: String(contestId) } })
  return contestName(contestId, answer.title === null ? null : drawableText(answer.title))
}
