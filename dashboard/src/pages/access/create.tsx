/** A new key: asked for, and shown this once. */
import { useState } from "preact/hooks";

import { type CreatedApiKey, createApiKey, type Role } from "../../api/calls.ts";
import { isOpen, signIn } from "../../live/access.ts";
import { Copy } from "../../parts/copy.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Modal } from "../../parts/modal.tsx";
import { visible } from "../../parts/visible.ts";
import { DEFAULT, ROLES } from "./roles.ts";

export function CreateKey(props: { onMade: (key: CreatedApiKey) => void; onClose: () => void }) {
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>(isOpen.value ? "admin" : DEFAULT);
  const closes = isOpen.value && role === "admin";
  const act = async () => {
    const made = await createApiKey(name.trim(), role);
    // From now on this server asks for a key, this page too.
    if (closes) await signIn(made.key).catch(() => {});
    props.onMade(made);
  };
  return (
    <Dialog title="Create a key" action="Create the key" act={act} onClose={props.onClose}>
      <label>
        Name
        <input
          required
          maxLength={128}
          autocomplete="off"
          placeholder="billing-worker"
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <p class="quiet note">Who or what uses it. The audit log shows this name.</p>
      <fieldset class="choices">
        <legend>Role</legend>
        {ROLES.map((it) => (
          <label key={it.role} class="check">
            <input
              type="radio"
              name="role"
              value={it.role}
              checked={role === it.role}
              disabled={isOpen.value && it.role !== "admin"}
              onChange={() => setRole(it.role)}
            />
            <span>
              <strong>{it.role}</strong> {it.may}
            </span>
          </label>
        ))}
      </fieldset>
      {isOpen.value && (
        <p class={closes ? "warn" : "quiet note"}>
          {closes
            ? "This server is open now. With its first key for an admin it asks every caller for " +
              "a key, from the next call on. This page is signed in with the new one."
            : "This server is open: whoever reaches it may do everything. Its first key must be for " +
              "an admin, or nobody could make another."}
        </p>
      )}
    </Dialog>
  );
}

/** The only time that the key is seen. It is gone from the page with this dialog. */
export function Made({ made, onClose }: { made: CreatedApiKey; onClose: () => void }) {
  return (
    <Modal labelledBy="made" stays onClose={onClose}>
      <h2 id="made">
        The key <span class="text">{visible(made.name)}</span>
      </h2>
      <label>
        Key, role {made.role}
        <span class="secret">
          <textarea
            class="id"
            rows={2}
            spellcheck={false}
            readOnly
            value={made.key}
            onFocus={(event) => event.currentTarget.select()}
          />
          <Copy text={made.key} label="Copy the key" />
        </span>
      </label>
      <p class="warn">
        <span aria-hidden="true">⚠</span> It is shown this once. The server keeps only its hash: a
        key that is lost is revoked, and another one made.
      </p>
      <p class="quiet note">
        Programs read it from <code>HALYARD_API_KEY</code>. Keep it where secrets are kept, not in
        code.
      </p>
      <div class="buttons">
        <button type="button" class="main" onClick={onClose}>
          I have kept it
        </button>
      </div>
    </Modal>
  );
}
