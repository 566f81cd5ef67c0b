import type { WriterListeners } from '../../publish/door/writer.ts'
import type { ClockFault } from '../../publish/guards/clock-guard.ts'
import type { DoorReport } from '../../publish/door/door-replies.ts'
import type { LogLines } from './log-lines.ts'
import { openPublicationLines } from './publication-lines.ts'

/** Listeners of the writer that write log lines. */
export type WriterLines = Pick<
  WriterListeners,
  'onCommitted' | 'onHeld' | 'onAnswered' | 'onFailure' | 'onRoom' | 'onClock'
> &
  Readonly<{ flush(): void }>

const CLOCK_REASONS: Readonly<Record<ClockFault, string>> = {
  stepped: 'the clock was set by 60 s or more: no event is published until it agrees, or until a restart',
  'behind-head':
    'the newest event is more than 60 s ahead of the clock: set the clock, or start with --accept-clock',
}

/** Opens the lines about the writer. */
export function openWriterLines(lines: LogLines, monotonicMs: () => number): WriterLines {
  const publications = openPublicationLines(lines, monotonicMs)
  return {
    onCommitted: publications.committed,
    onHeld: ({ ms, ...held }) => lines.say('held', { ...held, ms: Math.round(ms) }),
    onAnswered: (answer) => sayDoorAnswer(lines, answer),
    onFailure(reason, answer) {
      const { request, traceparent, caller } = answer ?? {}
      lines.say('door-failed', { reason, request, traceparent, caller })
    },
    onRoom: (room) => lines.say(room ? 'disk-room' : 'disk-full', {}),
    onClock(fault) {
      if (fault === null) lines.say('clock-right', {})
      else lines.say('clock-wrong', { fault, reason: CLOCK_REASONS[fault] })
    },
    flush: publications.flush,
  }
}

function sayDoorAnswer(lines: LogLines, answer: DoorReport): void {
  const { request, status, field, traceparent, caller } = answer
  const code = answer.code ?? 'none'
  const common = { request, status, code, traceparent, caller }
  if (status < 400) lines.say('accepted', common)
  else if (status >= 500) lines.say('unaccepting', common)
  else if (code === 'unauthorized' || code === 'rate-limited') lines.say('unauthorized', common)
  else lines.say('refused', { ...common, field: field ?? 'none' })
}
