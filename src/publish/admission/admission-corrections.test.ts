import { suite } from 'node:test'
import {
  contest,
  moved,
  RUNNING,
  type TableEvent,
  testAdmission,
} from '../../../test/story/admission-table.ts'
import { correcting, month, priced, time } from '../../../test/story/story.ts'
import { seqOf } from '../../protocol/seq.ts'
import type { Details } from '../../protocol/details.ts'

const DIGEST = `sha256:${'0'.repeat(64)}`

suite('a correction', () => {
  const deposit = moved('treasury/deposit', '5')
  const correction = (type: string, seq: number, more: Partial<TableEvent> = {}): TableEvent => ({
    is: `correction/${type}`,
    details: correcting(seq),
    ...more,
  })
  const run: Details = { month: month('2026-09'), digest: DIGEST }
  const whole: readonly TableEvent[] = [
    ...RUNNING,
    moved('play/entry', '9', 1),
    moved('pool/top_up', '8', 1),
    contest('closed'),
    moved('prize/winner', '7', 1),
    { is: 'hold/winner', contest: 1, details: { reviewUntil: time('2026-10-09') } },
    moved('payout/winner', '3', 1),
    moved('expiry/winner', '4', 1),
    { is: 'price/usd', details: priced('0.25') },
    moved('trade/buy', '2'),
    { is: 'loyalty/scheduled', details: { month: month('2026-09'), paysAt: time('2026-10-09') } },
    { is: 'loyalty/input', details: run },
    moved('burn/platform_income', '1'),
  ]
  const amounts: Readonly<Record<number, string>> = {
    3: '-9',
    4: '-8',
    6: '-7',
    8: '-3',
    9: '-4',
    11: '-2',
    14: '-1',
  }
  const ofContest = new Set([3, 4, 6, 8, 9])
  for (const [index, { is }] of whole.entries()) {
    const seq = index + 1
    const type = is.split('/')[0] ?? ''
    const kots = amounts[seq]
    const draft = correction(type, seq, {
      ...(kots !== undefined && { kots }),
      ...(ofContest.has(seq) && { contest: 1 }),
    })
    const refused =
      type === 'contest' || type === 'hold'
        ? `details.corrects: an event of type ${type} cannot be corrected: publish a further event`
        : null
    testAdmission([[`of ${is} is ${refused === null ? 'admitted' : 'refused'}`, whole, draft, refused]])
  }

  const once = [deposit, correction('treasury', 1)]
  testAdmission([
    [
      'can correct an event only once',
      once,
      correction('treasury', 1, { kots: '-5' }),
      'details.corrects: event 2 has corrected that event',
    ],
    [
      'cannot be corrected',
      once,
      correction('correction', 2, { kots: '5' }),
      'details.corrects: an event of type correction cannot be corrected: publish a further event',
    ],
    [
      'is refused when the event does not exist',
      once,
      correction('treasury', 3, { kots: '-5' }),
      'details.corrects: no event has this seq',
    ],
    [
      'cancels in full: another amount is refused',
      [deposit],
      correction('treasury', 1, { kots: '-4' }),
      'kots: must be -5.000000000, the corrected amount with the opposite sign',
    ],
    [
      'cancels in full: no amount is refused',
      [deposit],
      correction('treasury', 1),
      'kots: must be -5.000000000, the corrected amount with the opposite sign',
    ],
    [
      'has no amount when the event has none',
      [{ is: 'price/usd', details: priced('1') }],
      correction('price', 1, { kots: '0' }),
      'kots: must be absent: the corrected event has no amount',
    ],
    [
      'has the type of the corrected event',
      [deposit],
      correction('burn', 1, { kots: '-5' }),
      'kind: the corrected event is of type treasury',
    ],
    [
      'has the contest of the corrected event',
      [...RUNNING, moved('play/entry', '1', 1)],
      correction('play', 3, { kots: '-1', contest: 2 }),
      'contestId: the corrected event has contestId 1',
    ],
    [
      'is admitted after its contest was paid',
      [...RUNNING, moved('play/entry', '1', 1), contest('closed'), contest('paid')],
      correction('play', 3, { kots: '-1', contest: 1 }),
      null,
    ],
  ])
})

suite('an event that restates', () => {
  const played = [...RUNNING, moved('play/entry', '1', 1), contest('closed')]
  const corrected: readonly TableEvent[] = [...played, { is: 'correction/play', details: correcting(3) }]
  const prized: readonly TableEvent[] = [
    ...RUNNING,
    contest('closed'),
    moved('prize/x', '0', 1),
    { is: 'correction/prize', details: correcting(4) },
  ]
  const again = (is: TableEvent['is'], seq: number, id?: number): TableEvent => ({
    ...moved(is, '0', id),
    details: { restates: seqOf(seq) },
  })
  testAdmission([
    [
      'is admitted in the state of the event that it replaces',
      [...RUNNING, moved('play/entry', '1', 1), { is: 'correction/play', details: correcting(3) }],
      again('play/entry', 3, 1),
      null,
    ],
    ['is admitted in any later state', corrected, again('play/entry', 3, 1), null],
    [
      'is admitted after its contest was paid',
      [...corrected, contest('paid')],
      again('play/entry', 3, 1),
      null,
    ],
    [
      'replaces a prize also after its contest was paid',
      [...prized, contest('paid')],
      again('prize/x', 4, 1),
      null,
    ],
    [
      'after its contest was paid needs the seq of the event that it replaces',
      [...corrected, contest('paid')],
      moved('play/entry', '1', 1),
      'type: this contest is paid: publish play only while it is running, or in place of a corrected event, which details.restates names',
    ],
    [
      'is refused in an earlier state',
      [...corrected, contest('scheduled', 2)],
      again('play/entry', 3, 2),
      'type: this contest is upcoming: publish play only while it is running',
    ],
    [
      'replaces no prize before its contest opens',
      [...prized, contest('scheduled', 2)],
      again('prize/x', 4, 2),
      'type: this contest is upcoming: publish prize only while it is running or paying',
    ],
    [
      'replaces no event without a correction',
      played,
      again('play/entry', 3, 1),
      'details.restates: that event is not corrected: publish a correction first',
    ],
    [
      'replaces no event of another type',
      corrected,
      again('trade/buy', 3),
      'details.restates: that event is of another type',
    ],
    [
      'replaces no event that is replaced already',
      [...corrected, again('play/entry', 3, 1)],
      again('play/entry', 3, 1),
      'details.restates: event 6 has replaced that event',
    ],
    [
      'replaces no event that does not exist',
      corrected,
      again('play/entry', 9, 1),
      'details.restates: no event has this seq',
    ],
    [
      'needs its balance like any other',
      [
        moved('treasury/deposit', '1'),
        moved('burn/x', '1'),
        { is: 'correction/burn', details: correcting(2) },
      ],
      { ...moved('burn/x', '2'), details: { restates: seqOf(2) } },
      'kots: treasury holds 1.000000000, less than 2.000000000',
    ],
    [
      'is refused for a contest event, because no correction cancels one',
      RUNNING,
      { ...contest('opened'), details: { restates: seqOf(2) } },
      'details.restates: that event is not corrected: publish a correction first',
    ],
  ])
})

suite('a loyalty run', () => {
  const of = (kind: string, restates?: number, name = '2026-09'): TableEvent => ({
    is: `loyalty/${kind}`,
    ...(kind === 'output' && { kots: '1' }),
    details: {
      month: month(name),
      ...(kind === 'scheduled' ? { paysAt: time('2026-10-09') } : { digest: DIGEST, recipients: 1 }),
      ...(restates !== undefined && { restates: seqOf(restates) }),
    },
  })
  const cancels = (seq: number): TableEvent => ({ is: 'correction/loyalty', details: correcting(seq) })
  const whole = [of('input'), of('output')]
  const hasInput = "details.month: event 1 has published this month's input"
  const hasOutput = "details.month: event 2 has published this month's output"
  testAdmission([
    ['publishes its input first', [], of('output'), 'details.month: this month has no input yet'],
    ['publishes its output after its input', [of('input')], of('output'), null],
    [
      'has an input for each month',
      [of('input')],
      of('output', undefined, '2026-08'),
      'details.month: this month has no input yet',
    ],
    ['has one input', [of('input')], of('input'), hasInput],
    ['has one output', whole, of('output'), hasOutput],
    ['may be planned again at any time', [...whole, of('scheduled')], of('scheduled'), null],
    [
      'publishes no input after its output, even when the first was cancelled',
      [...whole, cancels(1)],
      of('input'),
      hasOutput,
    ],
    ['restates a cancelled input, also after its output', [...whole, cancels(1)], of('input', 1), null],
    ['restates a cancelled output', [...whole, cancels(2)], of('output', 2), null],
    [
      'restates a cancelled output also when its input is cancelled',
      [...whole, cancels(2), cancels(1)],
      of('output', 2),
      null,
    ],
    [
      'publishes no input after its output in place of another cancelled event',
      [...whole, cancels(1), of('scheduled'), cancels(4)],
      of('input', 4),
      hasOutput,
    ],
    [
      'publishes no input after its output in place of another month’s',
      [...whole, cancels(1), of('input', undefined, '2026-08'), cancels(4)],
      of('input', 4),
      hasOutput,
    ],
    [
      'publishes no output without input in place of a plan',
      [of('scheduled'), cancels(1)],
      of('output', 1),
      'details.month: this month has no input yet',
    ],
    [
      'restates no input while there is a valid one',
      [...whole, of('scheduled'), cancels(3)],
      of('input', 3),
      hasInput,
    ],
    [
      'restates no output while there is a valid one',
      [...whole, of('scheduled'), cancels(3)],
      of('output', 3),
      hasOutput,
    ],
  ])
})
