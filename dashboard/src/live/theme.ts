/** Light, dark, or what the system has; and whether keys act. This browser remembers both. */
import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";
export const THEMES: readonly Theme[] = ["system", "light", "dark"];

const kept = (name: string): string | null => {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
};

const keep = (name: string, value: string): void => {
  try {
    localStorage.setItem(name, value);
  } catch {
    // A browser that keeps nothing begins anew each time.
  }
};

/** Whether the system is dark now; it may turn while the page is open. */
export const systemIsDark = signal(false);

export const theme = signal<Theme>(THEMES.find((it) => it === kept("halyard-theme")) ?? "system");
export const keysAct = signal(kept("halyard-keys") !== "off");

/** Follows the choices from now on. */
export function applyTheme(): void {
  effect(() => {
    document.documentElement.dataset.theme = theme.value;
    keep("halyard-theme", theme.value);
  });
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const turn = () => {
    systemIsDark.value = dark.matches;
  };
  turn();
  dark.addEventListener("change", turn);
  effect(() => keep("halyard-keys", keysAct.value ? "on" : "off"));
}
