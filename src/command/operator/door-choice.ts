import { readAddress } from '../terminal/log-address.ts'
import { CommandError, tell, type World } from '../terminal/world.ts'

/** Publish doors that one command may name. */
const DOORS_MAX = 8
/** Time at a fallback after which the first door is asked whether it takes drafts again. */
const BACK_MS = 60_000
/** Time limit of that question. */
const READY_MS = 1_000

/** Publish doors of the nodes of one log. Requests go to one of them as long as it answers. */
export type DoorChoice = Readonly<{
  /** The address that messages name. */
  first: URL
  /** Whether there is a fallback. */
  hasFallback: boolean
  /** The addresses, in the order in which the next request tries them. */
  order(): Promise<readonly URL[]>
  /** Must be called with the door that answered. `fault` says why a request left the one before it. */
  answered(address: URL, fault: string | null): void
}>

const DOOR = { what: 'the address of the publish door with --to', example: 'http://127.0.0.1:8081' }

/**
 * Opens the choice between the doors of `--to`: the first, and its fallbacks. Tells of each change. A command that is at a
 * fallback goes back to the first door when that one is ready again.
 */
export function openDoorChoice(to: string, world: World): DoorChoice {
  const doors = to.split(',').map((text) => readAddress(text.trim(), DOOR))
  if (doors.length > DOORS_MAX) throw new CommandError(2, `--to takes at most ${DOORS_MAX} addresses`)
  let current = 0
  let leftMs = 0

  function moveTo(place: number, why: string): void {
    current = place
    leftMs = world.monotonicMs()
    tell(world, `using the publish door at ${doors[place]?.host ?? ''} now: ${why}`)
  }

  return {
    first: doors[0] ?? readAddress('', DOOR),
    hasFallback: doors.length > 1,
    async order() {
      const [first] = doors
      if (current > 0 && first !== undefined && world.monotonicMs() - leftMs >= BACK_MS) {
        if (await isReady(first, world.stop)) moveTo(0, 'it is ready again')
        leftMs = world.monotonicMs()
      }
      return [...doors.slice(current), ...doors.slice(0, current)]
    },
    answered(address, fault) {
      const place = doors.indexOf(address)
      if (place !== current) moveTo(place, fault ?? 'the doors before it do not answer')
    },
  }
}

/** Whether a door says that it takes drafts. */
async function isReady(door: URL, stop: AbortSignal): Promise<boolean> {
  const answer = await askReady(door, stop)
  return answer !== null && answer.ok
}

/** Asks a door whether it takes drafts; null when it does not answer in time. */
async function askReady(door: URL, stop: AbortSignal): Promise<Response | null> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(READY_MS)])
  const answer = await fetch(new URL('/readyz?for=publish', door), { signal }).catch(() => null)
  await answer?.body?.cancel().catch(() => undefined)
  return answer
}

/**
 * Id of the log of the first door that answers; null when none does. Before any draft is sent, so that no two doors can
 * put the same draft into two logs.
 */
export async function logOfDoors({ order }: DoorChoice, stop: AbortSignal): Promise<string | null> {
  for (const door of await order()) {
    const log = (await askReady(door, stop))?.headers.get('daybook-log') ?? null
    if (log !== null) return log
  }
  return null
}

/** Result of a question to one door: `fault` says why the next door is asked, and is null when it is not. */
export type DoorTurn<Answer> = Readonly<{ answer: Answer; fault: string | null }>

/** Asks the doors in turn, until one answers for all of them. Returns every answer, the last one last. */
export async function askInTurn<Answer>(
  choice: DoorChoice,
  stop: AbortSignal,
  ask: (door: URL) => Promise<DoorTurn<Answer>>,
): Promise<readonly Answer[]> {
  const answers: Answer[] = []
  let lastFault: string | null = null
  for (const door of await choice.order()) {
    const { answer, fault } = await ask(door)
    answers.push(answer)
    if (fault === null) choice.answered(door, lastFault)
    if (fault === null || stop.aborted) break
    lastFault = fault.includes(door.host) ? fault : `${door.host}: ${fault}`
  }
  return answers
}

/** JSON of a whole answer of a door; null when it is none, as of another program. Undefined when the answer breaks off. */
export async function readDoorAnswer(response: Response): Promise<unknown> {
  const body = await response.text().catch(() => undefined)
  if (body === undefined) return undefined
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}
