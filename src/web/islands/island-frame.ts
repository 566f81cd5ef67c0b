import { startLive } from './island-live.ts'
import './island-still.ts'

try {
  startLive()
} catch {
  // An older browser: the page is not live, and the other scripts continue.
}
