import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type NodeProcess, startNode } from '../stage/node-process.ts'
import { openPrivateDoor, type PrivateDoor } from './private-door.ts'

/** A running service that asks the chain. */
type Life = Readonly<{ node: NodeProcess; door: PrivateDoor }>

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
  return { node, door: openPrivateDoor(node.door, `${data}.token`) }
}

/** The platform's turns to send: none while the service is down, and none beyond what the present life may take. */
export type Turns = Readonly<{
  take(): Promise<PrivateDoor>
  open(door: PrivateDoor, mayGoOn: () => boolean): void
  close(): void
  /** Rejects all further turns, so that a platform ends that is not finished. */
  end(): void
}>

const LOOK_MS = 5

export function openTurns(): Turns {
  let present: () => PrivateDoor | null = () => null
  return {
    async take() {
      for (;;) {
        const door = present()
        if (door !== null) return door
        await sleep(LOOK_MS)
      }
    },
    open: (door, mayGoOn) => void (present = () => (mayGoOn() ? door : null)),
    close: () => void (present = () => null),
    end() {
      present = () => {
        throw new Error('the campaign is over')
      }
    },
  }
}
