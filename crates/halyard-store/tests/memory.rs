//! The contract, on the model.

use async_trait::async_trait;
use halyard_store::contract::{Maker, Opened};
use halyard_store::memory::Memory;
use halyard_store::options::Options;

struct InMemory;

#[async_trait]
impl Maker for InMemory {
    async fn open(&self, options: Options) -> Opened {
        Opened::alone(Memory::open(options))
    }
}

halyard_store::contract!(InMemory);
