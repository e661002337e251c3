//! Prompts that were typed while the agent was at work: some are written once more when it gets to them.

use serde::{Deserialize, Serialize};

/// What was queued and has not been written once more, the oldest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Queue<T>(Vec<T>);

impl<T: PartialEq> Queue<T> {
    /// How many wait at the most; nobody types more.
    const MOST: usize = 32;

    /// Whether a prompt is one that was queued before. Any other means that the queue is done with.
    pub fn is_twin(&mut self, queued: bool, prompt: T) -> bool {
        if queued {
            self.0.truncate(Self::MOST);
            self.0.push(prompt);
            return false;
        }
        let place = self.0.iter().position(|known| *known == prompt);
        self.0.drain(..place.map_or(self.0.len(), |place| place + 1));
        place.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twins() {
        let mut queue = Queue::default();
        let told: Vec<bool> = [(true, 'a'), (true, 'b'), (false, 'a'), (false, 'b'), (false, 'a')]
            .map(|(queued, prompt)| queue.is_twin(queued, prompt))
            .into();
        assert_eq!(told, [false, false, true, true, false]);
        // One that was never written again hides no later one.
        let told: Vec<bool> = [(true, 'a'), (true, 'b'), (false, 'b'), (false, 'a')]
            .map(|(queued, prompt)| queue.is_twin(queued, prompt))
            .into();
        assert_eq!(told, [false, false, true, false]);
        let told: Vec<bool> =
            [(true, 'a'), (false, 'c'), (false, 'a')].map(|(queued, prompt)| queue.is_twin(queued, prompt)).into();
        assert_eq!(told, [false, false, false]);
    }
}
