/** The foot of every page: what this browser remembers of its reader's likings, and the keys. */
import { KEYS } from "../live/keyboard.ts";
import { keysAct, THEMES, theme } from "../live/theme.ts";
import { Modal } from "../parts/modal.tsx";

export function Footer({ onHelp }: { onHelp: () => void }) {
  return (
    <footer class="frame">
      <KeysSwitch />
      <button type="button" class="link" onClick={onHelp}>
        Which shortcuts
      </button>
      <label class="check">
        Theme
        <select
          value={theme.value}
          onChange={(event) => {
            theme.value = THEMES.find((it) => it === event.currentTarget.value) ?? "system";
          }}
        >
          {THEMES.map((it) => (
            <option key={it} value={it}>
              {it[0]?.toUpperCase() + it.slice(1)}
            </option>
          ))}
        </select>
      </label>
    </footer>
  );
}

/** It stands in the page, so that turning single keys off takes no key. */
function KeysSwitch() {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={keysAct.value}
        onChange={(event) => {
          keysAct.value = event.currentTarget.checked;
        }}
      />
      Keyboard shortcuts
    </label>
  );
}

export function Help({ onClose }: { onClose: () => void }) {
  return (
    <Modal labelledBy="help" onClose={onClose}>
      <h2 id="help">Keyboard</h2>
      <dl class="facts">
        {KEYS.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <KeysSwitch />
      <div class="buttons">
        <button type="button" class="main" onClick={onClose}>
          Close
        </button>
      </div>
    </Modal>
  );
}
