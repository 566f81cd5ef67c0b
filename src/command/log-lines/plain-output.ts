import { Writable } from 'node:stream'
import type { LogLines } from './log-lines.ts'

/** Opens an output for plain text whose lines become log lines, so that a file of log lines has nothing else. */
export function openPlainOutput(lines: LogLines): Writable {
  let rest = ''
  return new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      const parts = (rest + chunk.toString()).split('\n')
      rest = parts.pop() ?? ''
      for (const words of parts) if (words !== '') lines.say('note', { words })
      done()
    },
    final(done) {
      if (rest !== '') lines.say('note', { words: rest })
      done()
    },
  })
}
