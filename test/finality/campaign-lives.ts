import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type NodeProcess, startNode } from '../stage/node-process.ts'
import { openPrivateApi, type PrivateApi } from './private-api.ts'

/** A running service that asks the chain. */
type Life = Readonly<{ node: NodeProcess; api: PrivateApi }>

/** Starts `daybook serve` in a child process whose gate asks in milliseconds. */
export async function startLife(
  data: string,
  chain: 'solana' | 'evm',
  urls: readonly string[],
): Promise<Life> {
  const pace = join(import.meta.dirname, 'fast-pace.ts')
  const finality = ['--finality', `${chain}=${urls.join(',')}`, '--finality-requests', '100000']
  const wrapper = ['env', `NODE_OPTIONS=--import=${pace}`]
  const node = await startNode(data, ['--chain', chain, ...finality], wrapper)
  return { node, api: openPrivateApi(node.publishUrl, `${data}.token`) }
}

/** The platform's turns to send: none while the service is down, and none beyond what the present life may take. */
export type Turns = Readonly<{
  take(): Promise<PrivateApi>
  open(api: PrivateApi, mayGoOn: () => boolean): void
  close(): void
  /** Rejects all further turns, so that a platform ends that is not finished. */
  end(): void
}>

const LOOK_MS = 5

export function openTurns(): Turns {
  let present: () => PrivateApi | null = () => null
  return {
    async take() {
      for (;;) {
        const api = present()
        if (api !== null) return api
        await sleep(LOOK_MS)
      }
    },
    open: (api, mayGoOn) => void (present = () => (mayGoOn() ? api : null)),
    close: () => void (present = () => null),
    end() {
      present = () => {
        throw new Error('the campaign is over')
      }
    },
  }
}
