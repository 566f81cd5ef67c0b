import type { ServerSaid } from '../../publish/door/tx-judge.ts'
import { failureWords } from '../rpc/rpc-failure.ts'
import type { Ballot, ServerAnswer } from '../chain/tx-verdict.ts'
import type { AskedChain } from './finality-settings.ts'

/** Name of the head of a chain: the newest slot of a server, or its finalized block. */
const HEAD: Readonly<Record<AskedChain, string>> = { solana: 'slot', evm: 'finalized block' }

/** The answer of a server in words, or why there is none. */
export function lastWordsOf(chain: AskedChain, { server, ballot, failure }: ServerAnswer): ServerSaid {
  if (ballot !== undefined) return { server, words: wordsOf(ballot, HEAD[chain]) }
  return { server, words: failure === null ? 'no answer' : `no answer: ${failureWords(failure)}` }
}

function wordsOf({ vote, head }: Ballot, headName: string): string {
  switch (vote?.is) {
    case 'final':
    case 'failed':
      return `${vote.is} in ${vote.place}`
    case 'waiting':
      return `${vote.stage}; its ${headName} is ${head}`
    case 'unknown':
      return `unknown; its ${headName} is ${head}`
    // A receipt without status.
    case undefined:
      return `no outcome; its ${headName} is ${head}`
  }
}
