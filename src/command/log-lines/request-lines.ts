import { shortenSender } from '../../protocol/sender-key.ts'
import { type AnswerReport, type Report, SLOW_ANSWER_MS } from '../../serve/exchange/answer-report.ts'
import type { StreamEnded } from '../../serve/stream/subscriber.ts'
import type { LogLines } from './log-lines.ts'

/** The lines about answers of the public listener. Answers that are right and fast have one at `debug` only. */
export function answerLines(lines: LogLines): Report {
  return {
    all: lines.wants('debug'),
    answered: (answer) => sayAnswer(lines, answer),
    cut: (fault) => lines.say('answer-cut', { fault }),
  }
}

function sayAnswer(lines: LogLines, { error, code, caller, ...answer }: AnswerReport): void {
  const { status } = answer
  const fields = { ...answer, ms: Math.round(answer.ms), code: code ?? 'none', caller: shortenSender(caller) }
  if (error !== null) lines.say('failed', { ...fields, err: error })
  // A request may wait for an event and get none: its caller has asked for what is not here yet.
  else if (code === 'behind') lines.say('problem', fields)
  else if (status >= 500) lines.say('unready', fields)
  else if (answer.ms >= SLOW_ANSWER_MS) lines.say('slow', fields)
  else lines.say(status >= 400 ? 'problem' : 'answered', fields)
}

/** Writes the line of a stream that ended: at `info` when it was cut because its reader took nothing. */
export function sayStreamEnd(lines: LogLines, { why, seq }: StreamEnded): void {
  const isCut = why === 'slow' || why === 'error'
  lines.say(isCut ? 'stream-cut' : 'stream-ended', { fault: why, seq })
}
